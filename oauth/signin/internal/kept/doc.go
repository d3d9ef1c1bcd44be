// Package kept keeps a form while its user confirms who they are, and sends it on then, so that nobody types twice.
//
// A form of the account or of the console that takes a fresh sign-in (decision 91) is checked as if it were done: who
// sent it, from which origin, and the id of a form of the console. If only the sign-in is missing, the form is kept for
// ten minutes and its user asked. A proof leads to a page that names the form by a random id, from which its user sends
// it to its own address once more, by POST; there it goes through every check again, and is used up in one step.
//
// # Choices
//
// A form is kept in the store, in a ticket, compressed and sealed with AES-256-GCM. Half of the key is in the store,
// half in a cookie of the browser that is for the form's own address alone: whoever reads the store cannot read what
// was typed, and another browser can neither read nor send it. The seal covers the id, the user and the address. The
// page of another site can name no id that it does not know, and what it sends itself is refused before it is kept.
//
// The user who confirms may not be the one who filled in the form: another person may have used a browser that was
// left open. So the pages that ask, and the one from which the form goes on, say what it does and to what, without
// its secrets, and no script sends it. That description is sealed too. The id of the form opens it, which the store
// does not have: it is shown where no cookie of the form is sent.
//
// A form goes on for the same user in the same browser, in whatever session they have proved who they are. The
// console's id of a form belongs to the session it was shown in, which is kept beside it, so a form that was sent
// before is not done a second time by keeping it.
//
// Kept forms are bounded: a signed-in user has ten forms kept in ten minutes (by each node), of 64 KiB each on the
// pages that everybody has, and of 16 MiB before and 2.8 MiB after compression on those that take a document, which
// are for developers. Nothing is kept for visitors who are not signed in. A form beyond these bounds is not kept,
// and the page says so.
//
// Two forms are not kept, because they are about the session itself: a new passkey and the first code of an
// authenticator app. Their pages lead back to where they begin.
package kept
