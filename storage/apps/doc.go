// Package apps keeps applications: their secrets, domains, tiers and owners, the orders by which tiers change, what
// settles their last months when they are removed, and clients that nobody registered here.
//
// Programs use its records and methods by package storage, which names them as its own:
//
//	app, err := store.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example"}})
//
// [App.Check] says everything that is wrong with one at once; [App.AllowsRedirect] is the rule for
// redirect_uris. Errors are those of package storage.
//
// # Choices
//
// A record of which an owner may have a limited number is written with a fence, so that of two made at once
// that would both count the same others one begins anew. Numbers that a page shows (state.Counts) are moved on
// in the step that changes them: nothing is counted by reading.
//
// The grammar of redirect_uris is our own and narrower than RFC 3986, because browsers, proxies and URL
// libraries read the rest in different ways.
package apps
