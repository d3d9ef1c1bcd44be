// Package restcall turns a call of a tool into an HTTP request to its upstream, and the
// answer into a result for the caller (protocol 2.7, 4.9).
//
// [Compile] makes a [Plan] of a tool once. [Plan.Build] checks arguments and writes the request;
// [Caller.Do] sends it; [Caller.Call] does both. A failure on the way is a result with IsError, so
// that a model reads it and can do better (MCP 2026-07-28, tools).
//
// Nothing of the request that carried the call reaches the upstream: no token, cookie,
// address or header, but for the names of the services it has come through (package hop). The upstream's credentials reach no result, and neither does its
// host: what a result says of a failure is the same for every upstream.
//
// # Choices
//
// JSON is checked once and then read where it lies. Numbers are never converted, so none
// is rounded, and bounds are compared digit by digit.
//
// null stands for an optional argument that is not given. Inside a JSON body it is data
// and is sent. Members of lists and objects that are null are left out of URLs, headers
// and forms (RFC 6570 2.3); members that are lists or objects are sent there as JSON.
// deepObject goes as deep as the value does; its lists are name[]=a&name[]=b, and those of
// objects or lists name[0][k]=a, as PHP, Rack, qs and the payment APIs read them.
//
// A form's entry or part has the first media type of its field that fits the value: any
// JSON or text for objects and lists, which are JSON; anything for other values; for bytes
// what their first ones show, else the first that is no range. A text in a part of JSON is
// a JSON string, unless it is the JSON of an object or a list already: documents declare
// such parts as text.
//
// A file is base64 of either alphabet, with padding and line breaks or without, a data URL, or an object
// {"name","type","data"}, which may be the text of one. Its type must be one
// that its field admits; where an octet stream is admitted, any is.
// Its name loses every path, percent-encoded too, and what is not
// seen, and stands in quotes as browsers write it: RFC 7578 forbids filename*. Without a
// name it has that of its field and the extension of its type. Forms are bounded like
// everything else that a short argument can make long.
//
// Cookies are sent as they were given, since most were taken from a cookie, but for what no
// cookie can hold, which is percent-encoded. They are added to the cookies of the
// credential, and can replace none.
//
// A path argument is checked in every form that an upstream may read it in: as it is and
// decoded once or twice, with \ for /, with the wide forms of characters and overlong UTF-8
// for ASCII, without what a server drops, up to a ; or ? or #. Whatever would then be a
// segment . or .., by itself or with what stands beside it in the template, is refused, and
// so are control characters and an argument of slashes alone. This refuses "..;" and "."
// before ".json", which some upstreams could have taken. Its slashes are sent as %2F, and as
// they are if the parameter has allowReserved; all else that allowReserved would keep means
// the same encoded. Tabs and line breaks are control characters in queries and headers too.
//
// A list, an object, a number or a boolean may be given as a text of JSON wherever the schema admits no text, within
// other values too: models and clients send them so. An unknown argument is refused by its name, since a
// model means something by it; those that clients are known to add are ignored, and the result says which.
//
// A keyword of a schema that is malformed, unknown or not RE2 is not enforced: the
// upstream checks it. So are format, default (never sent) and members of nested objects
// that their schema does not name.
//
// What the upstream's base URL has in its query cannot be changed by an argument. The
// credential replaces whatever has its name, or one that a server may take for it.
//
// The members of an object are names of their own where it is exploded, and in what a body has beside
// its fields. A member that a server may take for another argument, for a member that the schema of
// another object names, for what the base URL or the template fixes, or for the credential, is refused
// with a text that names both: its value has not passed the schema of the other. Names are the same if
// their letters and digits are, regardless of case, percent-encoded or not; a[b] and a.b are below a,
// and what is below a name or above it is in its way. The query and a form count as one place, since
// many servers merge them; a body of JSON, the cookies, and the matrix parameters of a path are places
// of their own. Names that the document itself gives to two arguments are left to it.
//
// Where an object is one text, no member may hold what separates them, unless it is written otherwise within
// one (%2C for a comma); neither may the elements of a list that blanks, | or tabs separate. A member of
// deepObject has no brackets in its name.
//
// Upstreams that echo their request are common, so the credential is blotted out of an
// answer, of an error, and of the headers that a result shows: as it is; percent-encoded,
// escaped as in JSON, in a program or in HTML, in capitals or not, up to three of these
// within each other; read as Latin-1; and in base64 of both alphabets, wherever in a longer
// text it stands, with up to a character more at each end. So is the value as it was sent,
// and of basic the password alone. What has less than 8 bytes is not looked for, or it would
// blot words and show by what is missing; of a short token or a short user:password the
// whole header value is. Not found are base64 that is broken into lines, hexadecimal, and
// whatever was encrypted or compressed. The work is linear: of an answer of 1 MiB it takes
// 4 ms, of one full of escapes some 40 (BenchmarkBlot).
//
// Text of any charset is shown as UTF-8: that of a byte order mark, else that of the
// Content-Type by the names of the web (WHATWG Encoding) and of IANA, else that which XML or
// HTML names. What is UTF-8 is taken for it under iso-8859-1 and its like too, which many
// servers add to everything. JSON is UTF-8 whatever charset is declared (RFC 8259 8.1), and is
// read by that charset only if it is not. What is no character becomes U+FFFD, and such JSON
// is no structured content. Of a text without a known charset that is so if at most a tenth of
// its bytes is wrong; else it is a resource of bytes, as they came. An answer is bounded as it
// came and again as UTF-8.
//
// Of an answer that is too large nothing is shown, for what is cut off may look whole. The
// result says how large it is. That is an error, since the model has not got what it asked
// for and has to ask for less; unless the upstream names a place where the answer can be had
// (Content-Location, Location, or a Link that is self, canonical, alternate or enclosure),
// which is then a resource_link in a result that is none: what is to be done next is to fetch
// it. Only an absolute URL is passed on that names neither the upstream's own host, nor its
// credential, nor an address or a name inside a network. A call that may have changed
// something is said to have been made, or a model would make it again.
//
// Some headers of an answer are told in a line of text, and in Result.Headers for machines: where the result or the
// operation is, the next page, versions, when to try again, totals and rates, and those that the document declares for
// 2xx. Credentials, and headers that only concern programs on the way, are never told. URLs of the upstream and of
// places inside a network become paths in every header, and a value that names the upstream in another way is left out.
//
// Of a stream that does not end, the whole events or lines that came within the time and the size of a call are
// returned, and the result says that it was cut. Streams are server-sent events, lines of JSON under any media type,
// watches, and lines of text of unknown length. An answer of an unknown media type is text if it is UTF-8 without
// control characters.
//
// Requests are sent on a RoundTripper, which follows no redirect and keeps no cookies,
// rather than on a Client, which might.
//
// # Size
//
// It is larger than a package here should be: each place where an argument goes (path, query,
// header, cookie, form, part, body) has a file, and all of them work on one compiled plan.
package restcall
