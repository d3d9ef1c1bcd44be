// Package registry turns OpenAPI documents into tools.
//
// [New] makes a [Registry], the endpoints under /api/console/capabilities (protocol 4.8): a
// signed-in user with a role registers, previews, lists, shows and removes capabilities. The
// Registry stores them, sends webhooks and hands them to a [Bus].
//
// [Parse] is a pure function from a document to the tools of the bus, each with the plan
// by which its arguments become a request; [StaticTools] does the same for a list that was
// filled in by hand; [Lint] returns advice. A document is read once into a tree, operations are
// listed and named, and each is built alone: its parameters and body become arguments,
// the arguments get names, and every argument is bound to one place. A piece that cannot
// be read is left out and listed, with its JSON pointer; it never costs the rest.
//
// # Choices
//
// Concurrent registrations of one name are stored one after the other, each as a whole; none is
// refused because of the other. The name keeps its owner.
//
// A user has one registration or preview at a time, all users together four, of which two are parsed: a
// document of 14 MB takes 100 MB while it is parsed, and 250 MB if it is YAML. Others wait in their order for
// ten seconds, before their body is read into memory, and are then refused with 429 (the user's own are
// in the way) or 503, with Retry-After; a waiting request gives up when its client disconnects. That
// one user keeps no other out is why the limit of one is below that of all. Capabilities that are shown, and
// upstreams that are asked while they are registered, are bounded likewise.
//
// An update changes no tool, upstream or owner. A secret that was given for one use is not put to another: another
// kind of credential needs its own, and so does a webhook at another address. Registered again in the console without
// its secrets, a capability keeps them if its server is the same. An argument that a header of an update sets is no
// longer sent, but stays in the schema of its tool until the document is registered again.
//
// The tools that a registration removes are those that are stored and not among the new ones. For an MCP endpoint at
// another address the new ones are those that it lists within five seconds; tools that the same endpoint no longer
// lists do not count as removed by the registration.
//
// A duplicate field of a request is refused, because parsers disagree on which one counts; an
// unknown one is listed as left out, so that a misspelling is noticed. A secret that calls would
// not use is not stored.
//
// Documents are not read by kin-openapi: its loader refuses a document for one dangling
// reference, takes minutes for a hostile one of 100 KB and panics on a null. It gives advice, in package lint, and a
// test compares with it how each style of a parameter is written.
//
// The pieces of a document refer to each other, so a few kilobytes can cause any amount of work.
// So the work is limited, not only the input: steps for one tool, steps for all of them, schemas,
// bytes. A tool past its own limits is left out; a document past its limits is refused as a
// whole, never cut.
//
// Servers, host and basePath are not followed: a document must not choose where calls go, nor,
// by a path with dot segments, leave the path of the upstream. Servers that a path or an operation has of its
// own are advice in a preview.
//
// YAML becomes JSON before anything else (see internal/yamljson), so that its tools, limits
// and pointers are those of JSON. A document that begins with a brace is parsed as JSON, because
// its errors are better and YAML takes seven times as long; nothing else distinguishes the two.
// A registration is in YAML if its Content-Type says so (RFC 9512); as application/json
// it holds a document in YAML as a string. A duplicate key in YAML is refused, as YAML demands;
// in JSON the last one counts.
//
// Responses are checked for syntax, and read only if a reference leads there: they are most of
// a large document, and no tool is made of them.
//
// A choice at the top of a body becomes the arguments of all its branches, if each of them
// is an object; otherwise one argument `body` carries it, because to leave out a branch
// would make it uncallable. A body that is neither JSON nor a form is one argument: a text, or bytes if its
// schema or its media type says so. Without a schema it is bytes unless its type is one of texts; an octet stream, an
// image and the like are bytes whatever their schema says, unless that asks for base64. Of several types of bytes the
// bytes decide, or what the caller says of them; a range is sent as the type that they have, a text of a range as
// text/plain.
//
// Of several media types JSON comes first, then those that carry fields, then texts, then bytes; a form that has files
// comes before types that cannot carry them, a JSON patch is chosen for lists alone, a strategic merge patch after all
// others, and problem+json if there is nothing else. Of two that differ in numbers alone the higher is chosen, as the
// later version. The parameters of a media type are sent with it, but for charset and boundary; a media type with a
// mistake is read up to the mistake, and is listed.
//
// The fields of a body of XML, or of another text whose schema is an object, stand in the description of its one
// argument; a body of JSON lines takes a list, of which each element is a line.
//
// The schema of a tool admits no other arguments than its own, so that clients strip what they add to each call.
//
// A serialization that a plan cannot express is left at its default and listed: collectionFormat
// tsv outside of forms, styles of another place.
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
// A file is one however its schema says so: at once, in a branch of a choice, behind references, in the parts of
// an allOf, in a list, by the media types of its encoding, and from 3.1 on by saying nothing; in multipart/form-data,
// and in any other multipart, whose parts have names too. Its schema is shown
// with each form in which bytes are taken, and the description says them. The length of a text says nothing of base64,
// so it is not shown. Where a text is admitted too, bytes are a data URL or an object, and anything else is the text.
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
// Each user has a limit of capabilities and tools (decision 61). All their capabilities count,
// the private ones too; of the tools those that are published and known: tools that an upstream
// lists later are limited by the bus, to the same number. A change that adds nothing is never
// refused, so lowering the limit locks nobody out. The limits are meant for strangers: an
// administrator, and so the command line, may register any number, and is warned of what the bus
// leaves out, because the bus limits every owner. The store counts in the step that writes, so
// concurrent registrations cannot exceed the limit together.
//
// An MCP endpoint describes itself, and may describe itself otherwise tomorrow. So callers see what its owner has
// accepted, and the rest is held (package pins). Registering accepts what is there then.
//
// The name of a capability that was deleted is kept for its owner for 90 days (decision 100). An administrator who
// registers it, or passes a capability on, is warned that what named it does not open it any more, and the trail
// says from whom it was taken.
//
// A name also blocks all names that differ from it only in case, - and _, even for its owner:
// users and models would confuse the tools of the two. Capabilities stored before this rule stay;
// where two of them collide, both are served and can be replaced, and a new name may resemble
// neither. Paths name a capability exactly as it is stored.
//
// The bus itself is refused as an upstream, in any spelling of the service's own address. The
// service's other endpoints may be registered; operations that could lead to the bus, also by the
// value of an argument, are left out. Calls that reach the bus under another name are refused
// there (package hop).
//
// Removing a capability requires a sign-in of the last ten minutes (decision 57), and so does
// replacing one: that discards the stored credential, and sends the arguments of all callers to
// another address. A new capability does no such harm.
//
// Headers that the bus sets itself or that say who is calling, and cookies that an operation
// does without, are no arguments. One list, in package restcall, says which headers these are. A
// cookie that is required is an argument; the caller's own cookies never pass. Parameters that
// the query of upstream_url or the credential sets are no arguments either: one that is required could never be
// given, and a model would be asked for a key.
//
// Nothing of a document vanishes: an operation, a parameter, a field or a media type is in a tool, or in what is
// left out. Parts that most documents have and no call needs, such as a body that may be sent as XML too, share
// one line for each reason, behind all others, which says that it is usual. A test with a reader of its own looks
// for each piece of the documents of a corpus and of thousands that are generated.
//
// A tool that the strict mode of OpenAI's or Gemini's API cannot express, such as one with an argument of any type,
// stays as it is, because it works without that mode; a preview that is asked for advice names it.
//
// HEAD, OPTIONS and TRACE make no tools, nor do the additionalOperations of OpenAPI 3.2. Its
// query does: it reads, and has a body. Of its querystring the fields of a form are arguments like those of any
// query; of another media type the query is one argument.
//
// The text beside the name in a placeholder of a path, as in {id:int}, {file:path} or {name=projects/*}, is for
// the API's own router: only the name counts, but slashes in a value stay where that text admits them. A declared
// path parameter is also found as :id and <id>.
//
// Invisible characters are not stored (see internal/toolschema): from labels, descriptions and
// titles they are removed silently; another keyword that has them is left out and listed. An
// operation whose path has such characters is left out: nobody could read where it leads.
//
// allowReserved counts in the path, where OpenAPI 3.2 has it: its slashes stay. In a query
// an encoded character means the same, so it is not read there.
//
// A capability sets the time limit of one call of its tools: timeout, 1 to 600 seconds, 30 by
// default. Like every other field, the next registration replaces it.
//
// # Size
//
// It is larger than a package here should be: reading a document is one walk whose parts draw on
// one budget of work and skip into one list. What follows from a tool is elsewhere
// (internal/toolschema, storage/toolplan).
package registry
