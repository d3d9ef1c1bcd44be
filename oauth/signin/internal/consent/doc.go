// Package consent asks users what an application may learn and do, and which tools it may use.
//
// # Choices
//
// The page shows the application, its host, the permissions as text, and the user. The form carries
// the user and the scope, since another tab may sign somebody else in and the application may
// request more: an answer counts for exactly that user and scope, and a scope without a text is
// never stored. Consent to the management of applications, and to tools that the application was not
// allowed before, takes a fresh sign-in when it is given, not only when it is used; the form is
// kept meanwhile. A consent redirects back to authorize, which reads the store again; a
// denial redirects there too, marked as one. The mark needs no proof: it can only turn a grant into
// a denial. "Use another account" signs this one out, because a browser has one session here.
//
// Of an application that nobody registered here (decision 55) the host of its document is certain, and
// where the browser goes; the name is a claim, cut and marked as one, and no page is headed by it. Where
// the browser goes to a program on the device, any program there may be the one that gets the code, so
// the page asks whether the user has begun this themself. What they allow counts for the terms that they
// saw. Such an application is kept once somebody has allowed it, before that is stored: the other way
// round one could end that a user has allowed.
//
// Users choose among the tools without a script: one of three ways, and boxes for the third. Boxes that
// are ticked while another way is chosen are no answer, and neither is none; the page comes again, without
// the ticks, because the same form could only be sent again. The server makes the choice anew from what
// the user may use now, and takes nothing that it would not offer. What is allowed replaces what was
// allowed of the same tools before; what is allowed less ends the tokens that hold more. A first-party
// application has no choice to offer: it is not asked for, so nothing would come of it.
package consent
