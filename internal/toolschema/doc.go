// Package toolschema turns schemas of strangers into input schemas that every client of
// the bus can read.
//
// A [Document] holds the schemas and the targets of their references; a [Projection] is the view
// of it for one tool; an [Input] holds the schema that the tool shows: the JSON Schema 2020-12 of an
// object of named arguments, without boolean schemas for values, without extensions, without
// $ref but for what refers to itself in a foreign schema, bounded in depth, size and the
// steps it takes to find out. [Sanitize] does all of it
// for the input schema of a foreign tool. [Bytes] says what of a value is sent as bytes, wherever a
// schema says so, and how that is shown.
//
// # Choices
//
// A keyword that is not understood, or is wrong, is left out: that widens a schema, so
// that a client may send what the upstream refuses, but never refuses what the upstream
// would take. For the same reason oneOf becomes anyOf, whose branches may overlap once
// they are simplified, and a choice with one branch that cannot be shown is left out
// whole. A pattern stays only if it means the same to RE2 and to ECMA-262 with the flag u,
// under which clients compile it. Escapes that escape nothing, hyphens beside \w and single
// braces are mended, and \u4e00 becomes its character; what looks like a quantifier that was
// misspelt is left out. So are keywords that say nothing of the types of their schema, which
// strict validators refuse.
//
// Of a foreign schema the definitions that lead to themselves stay behind $ref, in $defs,
// since no number of levels shows them; others are shown in place, where every client reads
// them. $schema stays if it names the dialect that is shown, and additionalProperties where
// all that may be sent is shown.
//
// One schema of a tool that a client cannot read costs it the whole list of tools: the
// TypeScript SDK refuses a list in which one property is `true`, and Go clients one that
// holds 1e999. So numbers beyond float64 go too, while integers keep every digit.
//
// Text that nobody sees is read by models (decision 59), so none of it stays:
// neither what Unicode has as control, format, private and unassigned characters, nor
// variation selectors, nor the letters and marks without a shape, such as the Hangul
// fillers and the grapheme joiner. Old Korean, Mongolian and Hebrew lose a shape or an
// order by that, and no word. These are seen by what they do, and stay there alone: U+200C
// and U+200D between letters, marks or digits of one script that joins them; U+200D between
// two emoji; U+FE0E and U+FE0F once, behind an emoji, and U+FE0F in a keycap; and the tag
// characters of England, Scotland and Wales, letter by letter as they must be, behind the
// black flag. A line break, a tab, U+2028, U+2029 and the blank of braille become a blank,
// as users see them. Other blanks, such as the ideographic one, are seen and stay.
// Unassigned are the characters that the Unicode tables of the Go version used do not have.
//
// Of a description or a title the rest is shown. A value of another keyword is compared by
// programs, so the keyword goes whole if one character would, a line break or tab too, and
// is reported. That, too, widens the schema. A property of a nested object whose name
// hides something is not shown, and then neither is what the object says of all others.
// The names of arguments are ASCII.
//
// It is one package because cleaning a schema and reading its fields walk the same tree within the same limits.
package toolschema
