// Package apidoc merges the OpenAPI documents of the packages into one.
//
//	doc := apidoc.Of(provider.OpenAPI(), g.OpenAPI(), bus.OpenAPI())
//	mux.Handle("/openapi.json", doc.Handler("https://id.example.com"))
//
// A package has a file openapi.json beside its route table: its tags, its paths and its own
// schemas. The parts that all of them share, above all the failures, are in frame.json here.
//
// # Choices
//
// The document is written by hand and proven by tests, instead of made from the code: what
// a reader needs (when to call, what comes of it, examples) stands in no type. The tests
// (internal/test/openapitest) check each part against the package's route table, and against every answer
// of its dialogues.
//
// The parts are in the packages and not in the program, because an embedder mounts some packages and
// not others, and because whoever changes a route sees its description in the same folder.
//
// It is OpenAPI 3.0.3, which the registrar of protocol 4.8 reads, so that the service can be
// registered on its own bus. HEAD has no operations of its own: it is served wherever GET
// is, and a GET without it says so. Twins of a path, such as /oauth/token.php beside
// /oauth/token, are named in the path's x-aliases and not repeated: they would be the same
// tools again. A path that takes every method has x-any-method and describes GET.
package apidoc
