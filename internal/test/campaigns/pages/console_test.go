package pages

import (
	"testing"

	"github.com/keystile/keystile/internal/test/filled"
)

// Every page of the console, those that other pages lead to included, as an administrator sees it in a service that has
// been used.
func TestPageOfTheConsoleIsFitForEverybody(t *testing.T) {
	t.Parallel()
	each(t, []reader{english, chinese}, func(v *walkthrough) {
		f := used(v.t, func(text string) string { return text })
		v.s = f.service
		v.operator()
		v.crawl(f.addresses(), func(shape string) { v.look(nameOf(shape)) })
		v.at("/console/capabilities/new")
		v.Type("[name=member]", "books")
		v.Type("[name=upstream_url]", f.upstream)
		v.Type("[name=document]", filled.Bookshop)
		v.Follow("button[value=preview]")
		v.look("console-capability-preview")
		v.at("/console/capabilities/bookshop/tools/findOrders")
		v.Follow("main form button")
		v.look("console-tool-answer")
		v.at("/console/apps/nothing")
		v.look("console-missing")
		v.quiet("404")
	})
}

// operator signs in to the console as its first administrator.
func (v *walkthrough) operator() {
	v.t.Helper()
	v.at("/console/nodes")
	v.says("Sign in")
	v.password()
	v.Shown("main")
}
