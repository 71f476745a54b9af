//! What the parse stage writes (paper 3.2.1 and 3.2.2).

use almanac_artifact::table;

use crate::{Access, ArtifactRole, EntityKind, EntityLevel, FileStatus, Language, ReferenceKind, SourceType};

table! {
    /// One file of the source tree.
    pub struct File in "files", version 2, sorted by (path) {
        /// Path relative to the source tree, with `/`.
        path: String,
        /// BLAKE3 of the bytes, hexadecimal; empty for an unreadable file.
        content_digest: String,
        /// Size in bytes.
        bytes: u64,
        /// Number of lines.
        lines: u32,
        /// Language it is read as.
        language: Language,
        /// Interface, implementation, documentation, ...
        source_type: SourceType,
        /// Part it plays in the project.
        role: ArtifactRole,
        /// How far it was read.
        status: FileStatus,
        /// Why it was not read further; empty when it was.
        status_reason: String,
        /// Folder, `.` for the top.
        folder: String,
        /// Bytes inside ERROR nodes of the syntax tree.
        error_bytes: u64,
        /// Whether invalid UTF-8 was replaced.
        lossy: bool,
        /// Digest of the macros of the tree that its reading depends on, 20 hexadecimal digits.
        macros_digest: String,
    }
}

table! {
    /// Text of a file that was read.
    pub struct Text in "texts", version 1, sorted by (path) {
        /// Path relative to the source tree.
        path: String,
        /// Content as UTF-8; byte ranges of entities point into it.
        text: String,
    }
}

table! {
    /// A named entity of the code or a section of a document (paper listings 1, 4 and 5).
    pub struct Entity in "entities", version 2, sorted by (path, start_byte, end_byte, id) {
        /// Stable id: 20 hexadecimal digits over path, kind, qualified name, signature and ordinal.
        id: String,
        /// File, relative to the source tree.
        path: String,
        /// What it is.
        kind: EntityKind,
        /// Symbol or documentation section.
        level: EntityLevel,
        /// Unqualified name; title for a section.
        name: String,
        /// Name with namespaces and classes.
        qualified_name: String,
        /// Qualified name of the enclosing scope; empty at the top.
        parent: String,
        /// Enclosing or qualifying class; empty if none.
        class_name: String,
        /// Enclosing namespaces, `a::b`; empty at the top.
        namespace: String,
        /// Normalised one-line signature, without body.
        signature: String,
        /// Return type, or `class` / `struct` for a record.
        return_type: String,
        /// Parameter list as written; inheritance clause for a record.
        parameters: String,
        /// Names of the parameters; empty for one without.
        parameter_names: Vec<String>,
        /// Types of the parameters as written, in the same order, `...` included.
        parameter_types: Vec<String>,
        /// Template parameter list; empty if not a template.
        template_parameters: String,
        /// Base classes as written.
        bases: Vec<String>,
        /// Specifiers and qualifiers as written, in order: `static`, `const`, `noexcept(x)`, `override`,
        /// ...; `default`, `delete` and `pure` for what stands in place of a body.
        qualifiers: Vec<String>,
        /// Access of a member.
        access: Access,
        /// Attributes and annotation macros as written.
        attributes: Vec<String>,
        /// Comment right before it (Doxygen or not), markers removed; where there is none, the one after
        /// it on its line.
        leading_comment: String,
        /// Comment after it on its line, marked as its own (`///<`) or the only one there.
        trailing_comment: String,
        /// Macro whose use in these lines makes it; empty for what is written out.
        generated_by: String,
        /// First line, from 1, leading comment excluded.
        start_line: u32,
        /// Last line, inclusive.
        end_line: u32,
        /// First byte of the entity, template header included.
        start_byte: u64,
        /// Byte past the end.
        end_byte: u64,
        /// Language.
        language: Language,
        /// Interface, implementation, documentation, ...
        source_type: SourceType,
        /// Part its file plays in the project.
        role: ArtifactRole,
        /// Headings above a section, outermost first.
        section_path: Vec<String>,
        /// BLAKE3 of its text, 20 hexadecimal digits.
        text_digest: String,
        /// Whether it has a body.
        is_definition: bool,
    }
}

impl Entity {
    /// The entity's text inside its file's text.
    pub fn slice<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start_byte as usize..self.end_byte as usize).unwrap_or("")
    }

    /// Lines the entity spans.
    pub fn line_count(&self) -> u32 {
        self.end_line.saturating_sub(self.start_line) + 1
    }
}

table! {
    /// Something the source names without defining it; the graph stage resolves it.
    ///
    /// Expressions are kept in one form, with every operator as a call: `operator*(this).a[i].b()`.
    /// What is too long or has no type of its own is `?`, a lambda `[]`.
    pub struct Reference in "references", version 2, sorted by (path, start_byte, ordinal) {
        /// File, relative to the source tree.
        path: String,
        /// Innermost entity it stands in; empty at file level.
        entity_id: String,
        /// What is asked for.
        kind: ReferenceKind,
        /// Last component of the name; the path as written for an include.
        name: String,
        /// Name as written, with qualifiers or markup; the symbol for an operator, the directive for a
        /// conditional.
        written: String,
        /// Object or pointer expression with the `.` or `->` after it; empty if none.
        receiver: String,
        /// Number of arguments of a call.
        arguments: u32,
        /// Arguments of a call as expressions, of a command of a build file as they are written; empty
        /// where their number is all that is known.
        argument_list: String,
        /// Line, from 1.
        line: u32,
        /// First byte.
        start_byte: u64,
        /// Tells references at one byte apart.
        ordinal: u32,
    }
}

table! {
    /// A variable inside a function, so that the graph stage can tell what an object is.
    pub struct Local in "locals", version 1, sorted by (path, start_byte, name) {
        /// File, relative to the source tree.
        path: String,
        /// Name; `return` for what a function with a deduced result gives back.
        name: String,
        /// Type as written; empty where it is deduced.
        type_text: String,
        /// Initial value where the type is deduced, in the form of a reference's receiver; `operator
        /// each(x)` for an element of what a loop runs over, `operator part1(x)` for a part of it.
        value: String,
        /// Byte from which the name is in sight.
        start_byte: u64,
        /// Byte past the block it is in sight in.
        end_byte: u64,
    }
}
