// Package lint has kin-openapi judge OpenAPI documents. Its Check is for registry.Config.Validator.
//
// It is a package of its own because kin-openapi links a validator of JSON Schema, which compiles its own schemas at
// every start of a program (6 ms, 1.7 MB): a host that registers documents and gives no advice on them links neither.
// kin-openapi gets a document only if the estimated work is small: it takes minutes for a hostile one of 100 KB.
package lint
