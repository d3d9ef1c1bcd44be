package consent

import (
	"context"
	"html/template"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
)

// This file is for the other page that asks users what an application may do: the one of a device.

// MaxPicks bounds the boxes of a form with a Choice, whose fields are tools and pick.
const MaxPicks = maxPicks

// Choice holds what a user can choose of the tools that an application asks for.
type Choice = choice

// WithChoice returns a page that can show its Choice with {{template "choice" .}}.
func WithChoice(body *page.Template) *page.Template {
	return page.Lazily(func() *template.Template {
		return template.Must(body.Parsed().ParseFS(consentFiles, "choice.html"))
	})
}

// ChoiceOf returns the Choice of a user, nil if the application asks for no tools.
func (s *Consents) ChoiceOf(ctx context.Context, app storage.App, sub, wanted string) (*Choice, error) {
	return s.choiceOf(ctx, request{app: app, scope: wanted}, sub)
}

// Take returns the scope that the fields of a form allow of a wanted one, or why the user has to choose
// again. It returns false for an answer that the page does not offer, or no longer.
func (c *choice) Take(wanted, which string, picks []string) (allowed, again string, ok bool) {
	return c.take(wanted, which, picks)
}

// Remember stores what a user has allowed an application, of what it asked for, on another page than
// the one of this package.
func (s *Consents) Remember(ctx context.Context, app storage.App, sub, asked, allowed string) error {
	return s.remember(ctx, request{app: app, scope: asked}, sub, allowed)
}
