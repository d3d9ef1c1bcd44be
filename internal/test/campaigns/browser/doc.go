// Package browser drives a headless Chromium in tests, through the DevTools protocol on a
// pipe: NUL-separated JSON on two file descriptors, no port and no library. It drives a headless Firefox, as far as
// tests need it, through WebDriver BiDi on a WebSocket of a loopback port.
//
// # Choices
//
// Clicks are mouse events at the middle of the element and text is typed into what has the
// focus, so that what a person could not do does not pass.
//
// A tab of Firefox is a window of its own: one behind another is hidden, and a page that is hidden does not ask whether
// a phone has confirmed.
//
// Nothing waits for a time: whoever clicks says whether a page is to come, and the driver
// waits for its load event.
package browser
