//! The closed vocabularies of the tables.

use almanac_artifact::symbol_enum;

symbol_enum! {
    /// Language a file is read as.
    pub enum Language {
        /// C++ (also headers that may be C).
        Cpp = "cpp",
        /// C.
        C = "c",
        /// CUDA C++.
        Cuda = "cuda",
        /// HIP C++.
        Hip = "hip",
        /// CMake.
        Cmake = "cmake",
        /// Python.
        Python = "python",
        /// Fortran.
        Fortran = "fortran",
        /// Markdown.
        Markdown = "markdown",
        /// reStructuredText.
        Rst = "rst",
        /// Plain text and every other text file.
        Text = "text",
    }
}

symbol_enum! {
    /// What kind of source a file is (paper 3.2.1, `source_type`).
    pub enum SourceType {
        /// Interface: `.h .hh .hpp .hxx .cuh .ipp .tpp .inl`.
        Header = "header",
        /// Implementation: `.c .cc .cpp .cxx .cu .hip`.
        Source = "source",
        /// Prose: Markdown, reStructuredText, TeX, plain text, Doxygen pages.
        Documentation = "documentation",
        /// Build system: CMake, presets, make.
        Build = "build",
        /// Scripts: shell, Python, batch.
        Script = "script",
        /// Configuration and data: YAML, TOML, JSON, input decks.
        Configuration = "configuration",
    }
}

symbol_enum! {
    /// What part a file plays in its project.
    pub enum ArtifactRole {
        /// The product itself.
        Library = "library",
        /// A program that uses the library.
        Application = "application",
        /// A worked example.
        Example = "example",
        /// A test.
        Test = "test",
        /// A benchmark.
        Benchmark = "benchmark",
        /// Current documentation.
        Documentation = "documentation",
        /// Build system.
        Build = "build",
        /// Continuous integration.
        Ci = "ci",
        /// Tooling and job scripts.
        Script = "script",
        /// Copied third-party code.
        Vendored = "vendored",
        /// Written by a program.
        Generated = "generated",
        /// Documentation of an earlier interface.
        Obsolete = "obsolete",
        /// Data, images' text, licences and the rest.
        Data = "data",
    }
}

symbol_enum! {
    /// How far a file was read.
    pub enum FileStatus {
        /// By its grammar.
        Parsed = "parsed",
        /// As plain text.
        Text = "text",
        /// Not read: binary content.
        Binary = "binary",
        /// Not read: larger than the limit.
        TooLarge = "too_large",
        /// Not read: the system refused.
        Unreadable = "unreadable",
    }
}

symbol_enum! {
    /// Level of an entity or chunk (paper, `entity_level`).
    pub enum EntityLevel {
        /// Functions, classes and every other symbol.
        Symbol = "function_level",
        /// A whole file.
        File = "file_level",
        /// A folder or namespace.
        Module = "module_level",
        /// A callable with its direct callers and callees.
        CallChain = "call_chain_level",
        /// A section of a document.
        DocumentationSection = "documentation_section_level",
    }
}

symbol_enum! {
    /// What an entity is (paper, `chunk_type`).
    pub enum EntityKind {
        /// Free function with a body.
        FunctionDefinition = "function_definition",
        /// Free function without a body.
        FunctionDeclaration = "function_declaration",
        /// Member function with a body, constructors and destructors included.
        MethodDefinition = "method_definition",
        /// Member function without a body.
        MethodDeclaration = "method_declaration",
        /// Class.
        Class = "class",
        /// Struct.
        Struct = "struct",
        /// Union.
        Union = "union",
        /// Enumeration.
        Enum = "enum",
        /// One value of an enumeration.
        Enumerator = "enumerator",
        /// Namespace block.
        Namespace = "namespace",
        /// `using` alias or typedef.
        Alias = "alias",
        /// Concept.
        Concept = "concept",
        /// Variable or constant at namespace scope.
        Variable = "variable",
        /// Data member.
        Field = "field",
        /// Object- or function-like macro.
        Macro = "macro",
        /// Lambda bound to a name.
        Lambda = "lambda",
        /// Deduction guide of a class template.
        DeductionGuide = "deduction_guide",
        /// GoogleTest or Catch2 test case.
        TestCase = "test_case",
        /// CMake function or macro.
        BuildFunction = "build_function",
        /// CMake target.
        BuildTarget = "build_target",
        /// CMake option or cache variable.
        BuildOption = "build_option",
        /// Section of a document under a heading.
        Section = "section",
        /// A piece of a document without headings.
        TextBlock = "text_block",
        /// Summary of a file.
        FileSummary = "file_level",
        /// Summary of a module.
        ModuleSummary = "module_level",
        /// Summary of a call chain.
        CallChainSummary = "call_chain_level",
    }
}

impl EntityKind {
    /// Whether the entity can be called.
    pub fn is_callable(self) -> bool {
        matches!(
            self,
            Self::FunctionDefinition
                | Self::FunctionDeclaration
                | Self::MethodDefinition
                | Self::MethodDeclaration
                | Self::Lambda
                | Self::TestCase
                | Self::BuildFunction
        )
    }

    /// Whether the entity is a type with members.
    pub fn is_record(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Union)
    }

    /// Whether the entity is part of a document.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Section | Self::TextBlock)
    }
}

symbol_enum! {
    /// Who may use a member.
    pub enum Access {
        /// No member of a class.
        None = "none",
        /// Everybody.
        Public = "public",
        /// The class and those derived from it.
        Protected = "protected",
        /// The class.
        Private = "private",
    }
}

symbol_enum! {
    /// What a reference in the source asks for.
    pub enum ReferenceKind {
        /// `#include`, CMake `include`, `add_subdirectory`.
        Include = "include",
        /// A call, of an operator too.
        Call = "call",
        /// An object made: `T x(a)`, `T{a}`, `new T`, a member or base initialised.
        Construct = "construct",
        /// A base class.
        Base = "base",
        /// A CUDA/HIP kernel launch or a callable handed to a parallel construct.
        Launch = "launch",
        /// A type named in a signature, member or body.
        Type = "type",
        /// `using namespace a`, written `namespace a`, or `using a::f`.
        Using = "using",
        /// A macro used without arguments.
        Expand = "expand",
        /// A conditional of the preprocessor that names a macro, or a `#cmakedefine` of a template.
        Guard = "guard",
        /// A command of a build file that decides what is built, from what and when.
        Command = "command",
        /// A name or path in a document; how it is marked up stays in what is written.
        Mention = "mention",
    }
}

symbol_enum! {
    /// What became of a reference.
    pub enum ReferenceOutcome {
        /// One target, found as the language finds it.
        Exact = "exact",
        /// One target, through the type of the object.
        Receiver = "receiver",
        /// Found by the name alone.
        Name = "name",
        /// Several overloads remain, all kept.
        Overloads = "overload_set",
        /// More targets than are kept; no edge.
        TooMany = "too_many",
        /// Belongs to another library; no edge.
        External = "external",
        /// A value that is called, such as a parameter: the target is known only when it runs.
        Dynamic = "dynamic",
        /// Nothing in the tree answers to the name; no edge.
        Unresolved = "unresolved",
    }
}

impl ReferenceOutcome {
    /// What became of a reference that gave an edge.
    pub fn from_resolution(resolution: Resolution) -> Self {
        match resolution {
            Resolution::Exact => Self::Exact,
            Resolution::Receiver => Self::Receiver,
            Resolution::Overloads => Self::Overloads,
            Resolution::Name => Self::Name,
        }
    }
}

symbol_enum! {
    /// Relation between two nodes of the graph.
    pub enum EdgeKind {
        /// File includes file.
        Includes = "includes",
        /// Callable calls callable.
        Calls = "calls",
        /// Callable starts a kernel, or a callable in parallel; itself where that is a lambda in it.
        Launches = "launches",
        /// File, namespace or class owns an entity.
        Owns = "owns",
        /// Class derives from class.
        Inherits = "inherits",
        /// Member function overrides a virtual one.
        Overrides = "overrides",
        /// Definition implements declaration.
        Defines = "defines",
        /// Callable or variable makes an object of a class, or names a template with arguments.
        Instantiates = "instantiates",
        /// Specialisation belongs to its primary template.
        Specialises = "specialises",
        /// Signature, member or body names a type.
        UsesType = "uses_type",
        /// Alias stands for a type.
        Aliases = "aliases",
        /// Code expands a macro.
        Expands = "expands",
        /// Header and implementation of one stem.
        Pairs = "pairs",
        /// Test case, or `main` of a test, uses a symbol; file of tests is named after a file or class.
        Tests = "tests",
        /// Section of a document names a symbol, file, folder, target or option.
        Documents = "documents",
        /// Build target, or the build file where no entity stands for it, is made from a source, links
        /// a target or takes in a folder.
        Builds = "builds",
        /// Option, target or build file decides whether code, a target or a folder is compiled.
        Configures = "configures",
    }
}

symbol_enum! {
    /// How an edge's target was found, best first.
    pub enum Resolution {
        /// By qualified name, scope or path, as the language finds it.
        Exact = "exact",
        /// Through the type of the object it is called on.
        Receiver = "receiver",
        /// Several overloads remain; the edge is one of them.
        Overloads = "overload_set",
        /// By its name alone: the object's type is not known, or the name is not in scope.
        Name = "name",
    }
}

symbol_enum! {
    /// What groups files or entities into a module.
    pub enum ModuleKind {
        /// A folder.
        Folder = "folder",
        /// A namespace.
        Namespace = "namespace",
    }
}

symbol_enum! {
    /// State of a generated text.
    pub enum RecordStatus {
        /// Text is there.
        Done = "done",
        /// Wanted, not generated yet.
        Missing = "missing",
        /// Tried and failed; the reason says why.
        Failed = "failed",
        /// None is asked for; the reason says why.
        Unwanted = "unwanted",
    }
}
