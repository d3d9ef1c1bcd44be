// Package yamljson turns a YAML document into JSON that means the same.
//
//	text, err := yamljson.JSON(ctx, document, yamljson.Limits{Bytes: 16 << 20, Depth: 64, Nodes: 3_000_000})
//
// Plain scalars mean what the core schema of YAML 1.2 says (10.3.2), whatever version a
// document names: yes, on, 1_000, 12:30:45 and 2020-01-01 are texts, 012 is twelve, 0o14
// too. Numbers keep their digits. The parser of the dependency is used for the syntax
// alone; what it makes of values, which is YAML 1.1 in part, is never looked at.
//
// # Choices
//
// Values that JSON does not have are refused with their line and column, never guessed: .inf and
// .nan, tags beyond those of the core schema, keys that are lists or mappings. Other keys become
// their text: 200 is "200".
//
// A key that stands twice in a mapping is refused, as YAML wants it (3.2.1.1), and so is a
// second document: readers disagree on which of two counts.
//
// The merge key << is not part of YAML 1.2, but documents that people share use it, so it is
// followed as YAML 1.1 had it: a key of the mapping itself wins, then the first source. In
// quotes it is a key like others.
//
// An alias is written out wherever it stands, so a few bytes can ask for any amount of JSON. The
// output is bounded, and so is the number of nodes visited, which merge keys can make much larger.
// One that leads to itself is refused. Before anything is parsed the marks that can begin a value
// are counted: the parser takes some 170 bytes for each value.
//
// U+0085, U+2028 and U+2029 end a line for some readers and not for others; like characters
// that YAML excludes, they are refused unless they are escaped. UTF-16 is refused: JSON, and
// what carries documents here, is UTF-8.
//
// Two escapes of JSON are refused in double quotes, because the parser does not know them: \/,
// and a pair of surrogates for a character beyond U+FFFF.
//
// A plain scalar with the non-specific tag, as in "! 12", is read as if it had no tag: the
// parser does not show it.
package yamljson
