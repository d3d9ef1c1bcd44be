// Package applications holds examples/APPLICATIONS.md to what it says of other people's products: a whole service with
// the users, groups and applications of the page, and for each product the requests that it sends with the settings
// there, as a dialogue.
//
// The commands of the page are read here and run by internal/test/campaigns/guides.
package applications
