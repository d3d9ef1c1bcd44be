package ledger

import (
	"strings"
	"time"
)

// Detail says what a call belongs to, beside its product. A field is "" if it is unknown, or there is none.
type Detail struct {
	Tool string // full name, such as shop__order
	User string // a user's sub

	// Agent names the one that acts by delegation, a client_id or a sub, where that is not the application whose token
	// it is. So the calls of an application that are in no row of ByAgent are its own.
	Agent string

	// Took says how long the product took to its verdict, when the call is charged; 0: not
	// known. It is counted for the whole service, by product: see OfLatency.
	Took time.Duration
}

// Dimension is one of the ways in which the calls of an application are summed up.
type Dimension string

// Dimensions of usage. Calls are always summed up by their product, whatever else is known.
const (
	ByProduct Dimension = ""
	ByUser    Dimension = "by:user"
	ByTool    Dimension = "by:tool"
	ByMember  Dimension = "by:member" // capability that the tool belongs to
	ByAgent   Dimension = "by:agent"
)

var dimensions = []Dimension{ByProduct, ByUser, ByTool, ByMember, ByAgent}

// border is in no client_id and no sub, so no application has the rows of another's dimension.
const border = "\x1f"

// By returns the AppID of an application's rows of a dimension. Their Product is the user, the
// tool, the member or the agent.
func By(app string, d Dimension) string {
	if d == ByProduct {
		return app
	}
	return app + border + string(d)
}

// split reads what By returns.
func split(id string) (app string, d Dimension) {
	app, name, _ := strings.Cut(id, border)
	return app, Dimension(name)
}

// in returns the name under which the calls of a cell are summed up, "" if they are not.
func (c cell) in(d Dimension) string {
	switch d {
	case ByProduct:
		return c.product
	case ByUser:
		return c.user
	case ByTool:
		return c.tool
	case ByMember:
		member, _, _ := strings.Cut(c.tool, "__")
		return member
	case ByAgent:
		return c.agent
	}
	return ""
}

// rows returns how many rows the store gets for a cell, at most.
func (c cell) rows() (n int) {
	for _, d := range dimensions {
		if c.in(d) != "" {
			n++
		}
	}
	return n
}
