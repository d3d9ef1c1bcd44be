// Package registry turns OpenAPI documents into tools.
//
// [New] makes a [Registry], the endpoints under /api/console/capabilities (protocol 4.8): who
// is signed in and has a role registers, previews, lists, shows and removes capabilities.
// It stores them and tells webhooks; a [Bus] is told to read them from the store.
//
// [Parse] is a pure function from a document to the tools of the bus, each with the plan
// by which its arguments become a request; [StaticTools] does the same for a list that was
// filled in by hand; [Lint] is advice. A document is read once into a tree, operations are
// listed and named, and each is built alone: its parameters and body become arguments,
// the arguments get names, and every argument is bound to one place. A piece that cannot
// be read is left out and listed, with its JSON pointer; it never costs the rest.
//
// # Choices
//
// Registrations of one name at the same time are stored one after the other, each whole;
// none is told to come again for having met another. The name stays whose it is.
//
// Two documents are read at a time, and who waits for a place gives up when the client
// leaves: a document of 14 MB takes 100 MB while it is read, and 250 MB if it is YAML.
//
// A field that stands twice in a request is refused, because readers disagree on which
// counts; one that is unknown is listed as left out, so that a misspelt one is noticed. A
// secret that calls would not use is not kept.
//
// kin-openapi judges pieces, not documents: its loader refuses a document for one dangling
// reference, takes minutes for a hostile one of 100 KB and panics on a null. Here it says
// how a parameter may be written, and Lint hands it a whole document after an estimate
// that this ends.
//
// The pieces of a document refer to each other, so a few kilobytes can ask for any amount
// of work. The limits are on what is done, not only on what comes in: steps for one tool,
// steps for all of them, schemas, bytes. Past its own limits one tool is left out; past
// those of the document all of it is refused, never cut.
//
// Servers, host and basePath are not read: a document must not choose where calls go, nor,
// by a path with dot segments, leave the path of the upstream.
//
// YAML becomes JSON before anything else (see internal/yamljson), so that its tools, limits
// and pointers are those of JSON. What begins with a brace is JSON and judged as JSON, because
// its errors are the better ones and YAML takes seven times as long; nothing else tells the two
// apart. A registration is in YAML if its Content-Type says so (RFC 9512); as application/json
// it holds a document in YAML as a string. In YAML a key that stands twice is refused, as YAML
// has it; in JSON the last one counts.
//
// Answers are checked for syntax and read only if a reference leads there: they are most
// of a large document, and no tool is made of them.
//
// A choice at the top of a body becomes the arguments of all its branches, if each of them
// is an object; otherwise one argument `body` carries it, because to leave out a branch
// would make it uncallable. A body that is neither JSON nor a form is one text.
//
// What a document asks for and the plan has no word for is left at its default and
// listed: collectionFormat tsv outside of forms, styles of another place.
//
// The encoding of a form's fields is read for URL-encoded and multipart bodies. As soon as
// style, explode or allowReserved is there they count, and contentType does not; in the
// multiparts of 3.0 they never do, and of files they say nothing. Without them a list is one
// entry for each element, and an object is JSON. What is below the first level of deepObject
// follows the servers that ask for it (package restcall). Lists in the forms of 2.0 are csv
// unless they say otherwise.
//
// A header of a part is sent with the value that its schema fixes (const, an enum of one) or
// suggests (default). An example is neither. One that is required and has no value is an
// argument, <field>_<Header>, needed as soon as its part is given; any other is listed.
//
// A file keeps the schema of a text, as the list of golden documents has it: the caller
// takes base64, a data URL, which may have a name, or {"name","type","data"}.
//
// additionalProperties that is true or a schema, beside properties, makes one argument of
// that name whose members become members of the body; a field of that name keeps it. Where
// it is not said there is no such argument, though JSON Schema would allow more: models
// would fill it in every tool.
//
// A body of which nothing is said makes no argument of a GET: generators write one
// everywhere. A path without a slash at its beginning gets one, and [Lint] says so; one
// that has the form of a URL does not. What documents append to paths, the queries of
// RFC 6570, is not sent.
//
// One user has a share of what there is (decision 61). All their capabilities
// count, the private ones too; of tools those that are published, as far as they are known:
// what an upstream lists later is for the bus to bound, by the same number. Nothing that
// does not grow is refused, so a share that was made smaller locks nobody out. Shares are
// meant for strangers: an administrator, and so the command line, may register any number,
// and is warned of what the bus leaves out, because there the share is everybody's. The
// store counts in the step that writes, so registrations at the same time do not all find
// the last place free.
//
// A name is taken for everything that differs from it in case, - and _ alone, also by its
// owner: people and models take the tools of the two for each other. Capabilities that
// were stored before this was so stay, each with its name; where two of them collide, both
// are served and can be replaced, and what is new may look like neither. Paths name a
// capability exactly as it is stored.
//
// An upstream that is the bus itself is refused, in any spelling of the service's own
// address. Another endpoint of the service is as good an upstream as any, so its document
// may be registered; operations that could lead to the bus, also by what an argument holds,
// are left out of it. What gets there by another name is refused by the bus (package hop).
//
// Removing takes a sign-in of the last ten minutes (decision 57), and so does
// registering in the place of what is there: it takes the stored credential away, and sends
// what everybody hands to the tools to another address. What is new takes nothing away.
//
// Headers that the bus sets itself or that say who is calling, and cookies that an operation
// does without, are no arguments. They are not listed as left out: every operation of a
// document has them. Which headers these are one list says, that of package restcall. A
// cookie that is required is an argument; the caller's own cookies never pass.
//
// What nobody sees of a text is left out of what is stored (see internal/toolschema): of
// labels, descriptions and titles silently, of other keywords by leaving out the keyword,
// which is listed. An operation whose path has such characters is no tool: where it leads
// could not be read.
//
// allowReserved counts in the path, where OpenAPI 3.2 has it: its slashes stay. In a query
// an encoded character means the same, so it is not read there.
//
// A capability says how long one call of its tools may take: timeout, 1 to 600 seconds, 30
// if nothing is said. It is as all else of a registration: the next one replaces it.
package registry
