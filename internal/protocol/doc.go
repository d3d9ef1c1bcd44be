// Package protocol holds no code. It holds documents, and the tests that tie the source to them:
//
//	protocol.md   what the service speaks: endpoints, parameters, shapes, errors, limits
//	decisions.md  what the protocol leaves open: what was chosen, and why
//	threats.md    the threat model: who is trusted, what a leaked secret opens, what holds when something
//	              fails; each statement names the test or the code that proves it, and a test that they are there
//	dependencies.md  why each dependency is there
//
// # How to cite
//
// A section of protocol.md is cited by its number, as in protocol 4.8, and several as in protocol 4.7, 5;
// one of its rules as in protocol 4.8, rule 6. An entry of decisions.md is cited as in decision 56, and
// several as in decisions 54 and 56. A sentence begins with a capital as any other does. The rows that
// dialogues prove are written 4.8/rule-6 and decision-36, or decision-46/shapes.
//
// Comments, tests and documents cite. Texts that the program shows cite nothing: whoever reads them has
// a client in front of them, and not this repository. Sections of standards are cited with the name
// of their standard, and are not looked at here.
//
// The test reads every file that git tracks. It fails on a number that is no heading, and on the forms
// in which documents outside of the repository used to be cited.
//
// # How a decision is recorded
//
// Add it at the end of decisions.md under the next number: a title, what was chosen, and the reason, in
// two to six lines. Cite it where the code does it and in a test that fails without it. A decision
// that is changed gets a new entry; the old one keeps its number and says which one holds now. The
// same goes for a section of the protocol that is no longer spoken.
package protocol
