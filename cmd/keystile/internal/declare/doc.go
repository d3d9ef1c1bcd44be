// Package declare makes a service what documents say it is to be: groups, the mappings of connectors to them,
// applications, tiers, capabilities, bundles and access lists.
//
//	docs, err := declare.Read(ctx, "staff.yaml", text)
//	result, err := applier.Apply(ctx, docs, declare.Options{DryRun: true})
//
// A document is flat: its kind, its name, and then the fields of the console's JSON. A field that it does not have
// stays as it is.
//
// # Choices
//
// All documents are read and checked before the first change, and changes are made by the acts of package
// internal/admin, so that each is on the audit trail as one that was typed. A run that breaks off is repeated: what is
// made already is not made again, because the store says what each document has made before it is made.
//
// Only one run changes anything at a time, whatever the number of processes. Another one is refused and not queued,
// because its documents were written without what the first one does.
//
// A new capability that has an access list among the documents is registered unpublished, and is published by the last
// step, so that nobody uses a tool that its list denies them. The store says that it waits.
//
// The name of an application is no key of the store. It means the application that a document of that name has made, or
// the only one with that name; the field client_id says which one where there are several.
//
// An OpenAPI document cannot be read back, so its digest is kept. Secrets are compared where they are kept.
package declare
