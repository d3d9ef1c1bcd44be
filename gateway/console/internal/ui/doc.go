// Package ui makes the pages of the console: what all of them share, and nothing of what they show.
//
// A [Part] is what a package of the console brings: endpoints for programs ([API]) and pages for
// people ([Page]). Both run the same [Action], so that what a person can do a program can: an
// Action returns a record, which is encoded as JSON for the one and shown by a template to the
// other. A form becomes the fields that a program would send.
//
// # Choices
//
// Pages work without the script: forms and links. The script adds comfort, see console.js.
//
// Every form carries an id that is good for one sending, within an hour, by the session it was
// shown to, at the address it was shown at. The id is not stored when the form is shown; it is
// authenticated by the id of the session, which the browser never sees, and stored when it is
// used. So looking at pages writes nothing, and a form that is sent twice acts once.
//
// After an act the browser is redirected, so that reloading repeats nothing. A page that is shown once, such
// as one with a secret, is kept until the browser asks for it.
//
// A field that asks for a user or an application takes a name ([Finder]). An error of a field is told
// in the reader's language, with the field's label: [View.Says].
//
// A page is a template of a few kilobytes over a record of at most a hundred rows. There is no
// store call for the frame itself.
package ui
