// Package claims writes what applications are told about users: the answers of userinfo (protocol 2.3)
// and the payloads of id_tokens (protocol 2.4). Both are appended by hand, in the text of encoding/json
// without its care for HTML, because reading their structure costs more than anything else about them.
//
// # Choices
//
// [Answers] keeps the answers of userinfo as bytes, one for each user and what the scope opens of them: the
// claims depend on nothing else. An answer is dropped when its user is written: by this process before the
// writer is answered, by another one when the feed of changes tells of it, within a second. A process that
// cannot read its feed refuses tokens before it comes here. What nobody tells of is seen after five seconds.
//
// What is read while a user changes may be from before, so it is answered and not kept.
package claims
