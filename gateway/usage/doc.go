// Package usage reads the charges: those of one application and of the whole service, the names
// with the most calls, and the forecast of a month. The gateway's endpoint, the console and the
// command line show it.
//
//	f, err := g.Usage().Figures(ctx, usage.FiguresQuery{From: yesterday, To: now})
//	top, err := g.Usage().Top(ctx, usage.TopQuery{Of: usage.Apps, From: today, To: today.AddDate(0, 0, 1)})
//
// Without a gateway, [New] makes a Reader over a store alone. Nobody is asked here who they are:
// whoever calls has found out what may be shown to whom.
//
// # Choices
//
// The whole service's calls have rows of their own, counted in one step with those of applications
// (gateway/internal/ledger), so nothing here costs more with a million applications. They begin with the
// version that first wrote them; earlier hours have none.
//
// Latency is the time to the product's verdict, when a call is charged: to the first byte of an
// answer, the result of a tool, or the moment in which the client gave up. It is counted in 17
// ranges, from 1 ms to 100 s in steps of 1, 2 and 5. A quantile is interpolated within its range, so it
// is as good as the range is narrow; beyond 100 s it is 100 s.
//
// The names with the most calls are read from sketches (package internal/ranking): a number is exact,
// or it is one that the name has at least. Calls of the last minute in other processes may not be in
// it yet, and a killed process takes up to a minute of it along. Rows are exact without it.
package usage
