// Package page writes the HTML that users see: one frame around the content of a package,
// in the brand of the application and the language of the reader.
//
// A package renders its own part with html/template and passes it to [Write] together with a
// [Look]. [Fail] writes a page of its own for what cannot go on.
//
// # Choices
//
// Nothing is fetched to see a page: the style sheet stands in the page and
// the Content-Security-Policy names its SHA-256. So the pages work where only /oauth/ is
// mounted, and text that slipped through as markup could neither run nor load anything.
// One page is live, see [Look]: it waits for what somebody does on another device. Those with a
// password are scripted: they can show what is typed. Each runs one file of ours, never a script that stands
// in a page, and works without it too.
//
// Referrer-Policy is same-origin, not no-referrer: under no-referrer a browser sends
// "Origin: null" with the form, and one that knows no Sec-Fetch-Site (an old one, or any
// over plain http) could then not be told from a foreign site. Other origins get no
// referrer under either.
//
// There is no Cross-Origin-Opener-Policy: it would cut a popup that signs in here from the
// application that opened it, for good.
//
// Texts are written in English where they are used; one table holds their translations. A
// text without one is shown in English and marked as such for screen readers.
package page
