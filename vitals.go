package keystile

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/storage"
)

// warnOfOpenTools names the tools that strangers may use because nobody has said otherwise.
func (s *Service) warnOfOpenTools(ctx context.Context, log *slog.Logger) {
	const named = 20
	open := s.ways.Open()
	tools, n := s.Bus.Unlisted(named)
	if n == 0 {
		return
	}
	if maybe, err := s.Store.MayHaveStrangers(ctx); len(open) == 0 && err == nil && maybe {
		log.WarnContext(ctx, "everybody may use the tools of capabilities without an access list, and users may have come "+
			"by themselves earlier: give each a list, or set "+storage.SettingDefaultAccess+" to owner",
			"tools", tools, "count", n)
	}
	if len(open) > 0 {
		log.WarnContext(ctx, "everybody may use the tools of capabilities without an access list, and strangers become "+
			"users by themselves: give each a list, or set "+storage.SettingDefaultAccess+" to owner",
			"by", open, "tools", tools, "count", n)
	}
}

// stored describes to operators what the records are in.
func (s *Service) stored() (is console.Server) {
	is.Kind, is.Version, is.At, is.Bytes = s.Store.Describe()
	return is
}

// counting returns what describes to operators what counts for all processes; nil: nobody knows.
func (c *Config) counting() func() console.Server {
	if c.Counters == nil {
		if c.Gateway.Limiter != nil || c.SignIn.Lockout != nil || c.SignIn.Delays != nil || c.SignIn.Counter != nil {
			return nil // the host's own, which may count elsewhere
		}
		return func() console.Server { return console.Server{} }
	}
	return func() (is console.Server) {
		is.Kind, is.Version, is.At = c.Counters.Describe()
		reached, since := c.Counters.Reached()
		is.Away, is.Since = !reached, since
		return is
	}
}

// vitals returns what the console says the service is well by.
func (s *Service) vitals(ctx context.Context) []console.Vital {
	feed, stats, health := s.Tokens.Feed(), s.Gateway.Stats(), s.Gateway.Health()
	const notWritten = "usage or audit trail is not written as it should be: see the log of this node"
	lost := stats.AuditLost + stats.AuditLostAnonymous
	all := []console.Vital{
		{Name: "feed lag", Value: feed.Age.Round(time.Millisecond).String(), Well: feed.Err == nil,
			Says: "what other processes revoke has not been read for too long: no access token is accepted"},
		{Name: "audit events waiting", Value: fmt.Sprint(stats.AuditWaiting), Well: health == nil, Says: notWritten},
		{Name: "audit events lost", Value: fmt.Sprint(lost), Well: stats.AuditLost == 0,
			Says: "events were lost: see why the store does not keep up"},
		{Name: "calls charged", Value: fmt.Sprint(stats.Charged), Well: health == nil, Says: notWritten},
		{Name: "calls not counted", Value: fmt.Sprint(stats.Uncounted), Well: health == nil, Says: notWritten},
	}
	if !feed.Shared {
		all = all[1:]
	}
	if len(stats.Shadowed) > 0 {
		var let []string
		for _, limit := range slices.Sorted(maps.Keys(stats.Shadowed)) {
			let = append(let, fmt.Sprintf("%s: %d", limit, stats.Shadowed[limit]))
		}
		all = append(all, console.Vital{Name: "requests let through over a rate", Value: strings.Join(let, ", "), Well: true})
	}
	const most = 100
	due := func(name string, n int, err error) {
		all = append(all, console.Vital{Name: name, Value: fmt.Sprint(n), Well: err == nil && n < most,
			Says: "they are not sent as fast as they come in: see the log of this node"})
	}
	now := time.Now()
	mails, err := s.Store.DueMails(ctx, now, most)
	due("emails due", len(mails), err)
	webhooks, err := s.Store.DueDeliveries(ctx, now, most)
	if err == nil {
		told, failed := s.Store.DueTold(ctx, now, most) // logouts and user events go the same way
		webhooks, err = append(webhooks, told...), failed
	}
	due("webhooks due", len(webhooks), err)
	return all
}
