//! Fortran: modules, programs, procedures, derived types and interfaces; `use`, `include` and calls.
//!
//! Names are compared without case in Fortran: they are kept in lower case, signatures as written.
//! What lies between the outermost units becomes text blocks.

use almanac_language::{Grammar, Stop, Watch, parse};
use almanac_tables::{EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::documents;
use crate::names::shortened;
use crate::rows::{EntityAt, Rows, Source};
use crate::script::{Taken, walk};

/// Longest receiver of a call, in characters.
const LONGEST_RECEIVER: usize = 160;

/// Reads a Fortran file and gives the bytes the grammar could not place.
pub(crate) fn read(
    source: &Source<'_>,
    max_chunk_size: usize,
    watch: &Watch<'_>,
    rows: &mut Rows,
) -> Result<u64, Stop> {
    let tree = parse(Grammar::Fortran, source.text.as_bytes(), watch)?;
    let mut reader = Reader { source, rows, scopes: Vec::new(), taken: Taken::default() };
    let error_bytes = walk(&tree, watch, |node| {
        reader.visit(node);
        true
    })?;
    let gaps = reader.taken.gaps(source.text.len());
    documents::read_between(source, &gaps, max_chunk_size, rows);
    Ok(error_bytes)
}

struct Reader<'a, 'r> {
    source: &'a Source<'a>,
    rows: &'r mut Rows,
    /// Units, procedures and types being walked, outermost first, and where they end.
    scopes: Vec<(EntityAt, usize)>,
    taken: Taken,
}

/// A unit's own statement, which names it.
const HEADS: &[&str] = &[
    "module_statement",
    "submodule_statement",
    "program_statement",
    "subroutine_statement",
    "function_statement",
    "module_procedure_statement",
    "derived_type_statement",
    "interface_statement",
];

impl<'a> Reader<'a, '_> {
    fn visit(&mut self, node: Node<'a>) {
        while self.scopes.last().is_some_and(|(_, end)| node.start_byte() >= *end) {
            self.scopes.pop();
        }
        match node.kind() {
            "module" | "submodule" => self.unit(node, EntityKind::Namespace),
            "program" | "module_procedure" => self.unit(node, EntityKind::FunctionDefinition),
            "subroutine" | "function" => {
                let kind = if self.is_in_interface(node) {
                    EntityKind::FunctionDeclaration
                } else {
                    EntityKind::FunctionDefinition
                };
                self.unit(node, kind);
            }
            "derived_type_definition" => self.unit(node, EntityKind::Struct),
            "interface" => self.unit(node, EntityKind::Alias),
            "use_statement" => {
                if let Some(module) = child(node, "module_name") {
                    self.refer(ReferenceKind::Include, module);
                }
            }
            "include_statement" => {
                if let Some(path) = node.child_by_field_name("path") {
                    let written = self.text(path);
                    let name = written.trim_matches(['"', '\'']);
                    let reference =
                        self.source.reference(ReferenceKind::Include, name, written, path.start_byte());
                    self.rows.refer(self.owner(), reference);
                }
            }
            "subroutine_call" => self.call(node, node.child_by_field_name("subroutine")),
            // An element of an array looks the same: only what has the name of a function is one.
            "call_expression" => self.call(node, node.named_child(0)),
            _ => {}
        }
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.slice(node.start_byte(), node.end_byte())
    }

    fn owner(&self) -> Option<EntityAt> {
        self.scopes.last().map(|(at, _)| *at)
    }

    /// Whether a procedure is declared for an interface, without its body.
    fn is_in_interface(&self, node: Node<'a>) -> bool {
        node.parent().is_some_and(|parent| parent.kind() == "interface")
    }

    /// An entity over a unit that names itself in its first statement.
    fn unit(&mut self, node: Node<'a>, kind: EntityKind) {
        let mut cursor = node.walk();
        let Some(head) = node.named_children(&mut cursor).find(|child| HEADS.contains(&child.kind())) else {
            return;
        };
        let name = head.child_by_field_name("name").or_else(|| child(head, "name"));
        let Some(name) = name.or_else(|| child(head, "type_name")) else { return };
        let name = self.text(name).to_lowercase();
        let end = node.start_byte() + self.text(node).trim_end().len();
        let (comment_start, comment) = comment_before(self.source.text, node.start_byte());
        let mut entity = self.source.entity(kind, &name, node.start_byte(), end);
        if let Some((outer, _)) = self.scopes.last() {
            let outer = &self.rows.entities[*outer];
            // An interface is no scope of names.
            let scope = if outer.kind == EntityKind::Alias { &outer.parent } else { &outer.qualified_name };
            entity.parent.clone_from(scope);
            if !scope.is_empty() {
                entity.qualified_name = format!("{scope}::{name}");
            }
        }
        entity.signature = statement(self.text(head));
        entity.parameters = head.child_by_field_name("parameters").map_or_else(String::new, |list| {
            let written = statement(self.text(list));
            written.trim_matches(['(', ')']).trim().to_owned()
        });
        entity.return_type =
            head.child_by_field_name("type").map_or_else(String::new, |node| statement(self.text(node)));
        entity.is_definition = kind != EntityKind::FunctionDeclaration;
        entity.leading_comment = comment;
        let base = head.child_by_field_name("base").and_then(|base| child(base, "identifier"));
        entity.bases = base.iter().map(|base| self.text(*base).to_lowercase()).collect();
        if self.scopes.is_empty() {
            self.taken.take(comment_start..end);
        }
        let at = self.rows.push(entity);
        self.scopes.push((at, node.end_byte()));
        if let Some(base) = base {
            self.refer(ReferenceKind::Base, base);
        }
    }

    fn refer(&mut self, kind: ReferenceKind, node: Node<'a>) {
        let written = self.text(node);
        let reference = self.source.reference(kind, &written.to_lowercase(), written, node.start_byte());
        self.rows.refer(self.owner(), reference);
    }

    fn call(&mut self, node: Node<'a>, callee: Option<Node<'a>>) {
        let Some(callee) = callee else { return };
        let written = statement(self.text(callee));
        let (receiver, name) = written.rsplit_once('%').unwrap_or(("", &written));
        let name = name.trim().to_lowercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic())
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            return;
        }
        let mut reference = self.source.reference(ReferenceKind::Call, &name, &written, callee.start_byte());
        if !receiver.is_empty() {
            reference.receiver = shortened(receiver.trim(), LONGEST_RECEIVER) + ".";
        }
        reference.arguments = child(node, "argument_list").map_or(0, |list| {
            let mut cursor = list.walk();
            list.named_children(&mut cursor).filter(|one| one.kind() != "comment").count() as u32
        });
        self.rows.refer(self.owner(), reference);
    }
}

fn child<'a>(node: Node<'a>, kind: &str) -> Option<Node<'a>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.kind() == kind)
}

/// A statement on one line, without the marks that continue it and without comments.
fn statement(written: &str) -> String {
    let lines = written.lines().map(|line| {
        let line = line.split('!').next().unwrap_or(line);
        line.trim().trim_matches('&')
    });
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The comment lines right before `at` (`!`, `!>`, `!!`): first byte and text without markers.
fn comment_before(text: &str, at: usize) -> (usize, String) {
    let mut start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    if !text[start..at].trim().is_empty() {
        return (at, String::new());
    }
    let mut lines = Vec::new();
    while let Some(end) = start.checked_sub(1) {
        let line_start = text[..end].rfind('\n').map_or(0, |before| before + 1);
        let Some(comment) = text[line_start..end].trim().strip_prefix('!') else { break };
        lines.push(comment.trim_start_matches(['!', '>', '<']).trim());
        start = line_start;
    }
    lines.reverse();
    lines.retain(|line| line.contains(char::is_alphanumeric));
    (start, lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use almanac_language::Classification;
    use almanac_tables::{ArtifactRole, Entity, Reference};

    use super::*;

    fn rows(text: &str) -> (Vec<Entity>, Vec<Reference>) {
        let class = Classification::of("src/heat.f90");
        let source = Source::new("src/heat.f90", text, class, ArtifactRole::Library);
        let mut rows = Rows::default();
        assert_eq!(read(&source, 2000, &crate::tests::watch(), &mut rows).expect("tree"), 0, "{text}");
        rows.finish()
    }

    const HEAT: &str = "\
!> Heat conduction.
module Heat
  use constants, only: kappa
  implicit none
  include 'mpif.h'
  type, extends(field_t) :: temperature
    real :: t(10)
  contains
    procedure :: step => temperature_step
  end type temperature
  interface norm
    module procedure norm1
  end interface norm
contains
  ! Advances by dt.
  subroutine Step(self, &
                  dt)
    class(temperature), intent(inout) :: self
    real, intent(in) :: dt
    CALL Exchange(self%t, 1)
    call self%clear()
    self%t = norm1(self%t) * kappa
  end subroutine Step

  real function norm1(x) result(r)
    real, intent(in) :: x(:)
    r = sum(abs(x))
  end function norm1
end module Heat

program main
  use heat
  call step()
end program main
";

    #[test]
    fn units_procedures_and_types() {
        let (entities, _) = rows(HEAT);
        let found: Vec<_> =
            entities.iter().map(|e| (e.kind, e.qualified_name.as_str(), e.start_line, e.end_line)).collect();
        assert_eq!(
            found,
            [
                (EntityKind::Namespace, "heat", 2, 29),
                (EntityKind::Struct, "heat::temperature", 6, 10),
                (EntityKind::Alias, "heat::norm", 11, 13),
                (EntityKind::FunctionDefinition, "heat::step", 16, 23),
                (EntityKind::FunctionDefinition, "heat::norm1", 25, 28),
                (EntityKind::FunctionDefinition, "main", 31, 34),
            ]
        );
        assert_eq!(entities[0].leading_comment, "Heat conduction.");
        assert_eq!(entities[1].bases, ["field_t"]);
        assert_eq!(entities[3].signature, "subroutine Step(self, dt)");
        assert_eq!(entities[3].parameters, "self, dt");
        assert_eq!(entities[3].leading_comment, "Advances by dt.");
        assert_eq!(entities[4].return_type, "real");
    }

    #[test]
    fn a_cut_file_is_read_as_far_as_it_goes() {
        for cut in (0..HEAT.len()).step_by(7) {
            let text = &HEAT[..cut];
            let class = Classification::of("a.f90");
            let source = Source::new("a.f90", text, class, ArtifactRole::Library);
            assert!(read(&source, 2000, &crate::tests::watch(), &mut Rows::default()).is_ok(), "{cut}");
        }
    }

    #[test]
    fn uses_includes_bases_and_calls() {
        let (entities, references) = rows(HEAT);
        let of = |kind| references.iter().filter(move |reference| reference.kind == kind);
        let includes: Vec<_> = of(ReferenceKind::Include).map(|r| r.name.as_str()).collect();
        assert_eq!(includes, ["constants", "mpif.h", "heat"]);
        let bases: Vec<_> = of(ReferenceKind::Base).map(|r| r.name.as_str()).collect();
        assert_eq!(bases, ["field_t"]);
        let calls: Vec<_> = of(ReferenceKind::Call)
            .map(|r| (r.name.as_str(), r.receiver.as_str(), r.arguments))
            .filter(|(name, ..)| !matches!(*name, "t" | "sum" | "abs"))
            .collect();
        assert_eq!(calls, [("exchange", "", 2), ("clear", "self.", 0), ("norm1", "", 1), ("step", "", 0)]);
        let exchange = of(ReferenceKind::Call).find(|r| r.name == "exchange").expect("call");
        assert_eq!(exchange.entity_id, entities[3].id);
        assert_eq!(exchange.line, 20);
    }
}
