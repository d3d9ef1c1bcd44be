// Package pages has browsers look at every page of the service and walk through it, as people do who read two languages
// and use a desktop, a phone, a keyboard or no script at all.
package pages
