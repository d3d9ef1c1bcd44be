// Package claims writes what applications are told about users: the answers of userinfo (protocol 2.3)
// and the payloads of id_tokens (protocol 2.4). Both are appended by hand, in the text of encoding/json
// without its care for HTML, because reading their structure costs more than anything else about them.
//
// # Choices
//
// [Answers] caches the answers of userinfo as bytes, one for each user and set of claims that a scope opens:
// an answer depends on nothing else. An answer is dropped when its user is written: by this process before
// the writer is answered, by another one when the feed of changes tells of it, within a second. A process
// that cannot read its feed refuses tokens before it comes here. Changes that are not announced are noticed
// within five seconds.
//
// A user who is read during a change may be the user of before, so that answer is sent and not cached.
package claims
