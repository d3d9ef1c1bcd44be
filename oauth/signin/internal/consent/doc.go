// Package consent asks users what an application may learn and do, and which tools it may use.
//
// # Choices
//
// The page shows the application, its host, the permissions as text, and the user. The form carries
// the user and the scope, since another tab may sign another person in and the application may
// request more: an answer counts for exactly that user and scope, and a scope without a text is
// never stored. Consent to the management of applications, and to tools that the application was not
// allowed before, takes a fresh sign-in when it is given, not only when it is used; the form is
// kept meanwhile. A consent redirects back to authorize, which reads the store again; a
// denial redirects there too, marked as one. The mark needs no proof: it can only turn a grant into
// a denial. "Use another account" signs this one out, because a browser has one session here.
//
// Of an application that registered itself (decision 55) only the host of its document and the target of
// the redirect are certain; its name is a claim, cut and marked as one, and no page is headed by it. If
// the redirect goes to a program on the device, any program there may get the code, so the page asks
// whether the user has begun this themself. Consent counts for the terms that the user saw. Such an
// application is kept once a user has allowed it. It is marked so before the consent is stored: in the
// other order an application could expire that a user has allowed.
//
// Users choose among the tools without a script: one of three ways, and boxes for the third. Boxes that
// are ticked while another way is chosen are not an answer, and neither is an empty choice; the page comes
// again, without the ticks, because the same form could only be sent again. The server makes the choice
// anew from what the user may use now, and takes nothing that it would not offer. A consent replaces the
// earlier one for the same tools; if it allows less, the tokens that hold more end. A first-party
// application has no choice to offer: it is not asked for, so nothing would come of it.
package consent
