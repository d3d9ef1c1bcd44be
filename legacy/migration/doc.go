// Package migration reports, from the audit trail, which applications would break if the old
// endpoints closed, or PKCE became mandatory (protocol 9).
//
//	report, err := migration.Read(ctx, store, time.Now().AddDate(0, 0, -30), time.Now())
//	err = report.Render(os.Stdout)
//
// keystile report migration prints the same. examples/moving takes an application the whole way.
//
// # Choices
//
// A Report is read from the trail and counted nowhere else, so it reaches back as far as the trail is kept, and
// needs nothing of an application. It reads all of the trail, which has no index by time, and holds
// 30,000 rows at most: 1,000 applications for 30 days. More than that is said (Truncated).
//
// Calls that named no key (check_sso and check_token) are counted apart, because anybody can cause them: an
// application with nothing but those may be gone.
//
// A batch of the trail that was stored twice, because its fate was unknown, counts once. A record that cannot
// be read is counted as such, and stops nothing.
package migration
