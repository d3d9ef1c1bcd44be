package billing

import (
	"embed"
	"fmt"
	"slices"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
)

// Config holds what New needs. All of it is required.
type Config struct {
	Store   *storage.Store
	Billing *billing.Billing
	Acts    *appacts.Acts
	Finder  *ui.Finder
}

// Billing is this part of the console.
type Billing struct{ c Config }

// New makes a Billing.
func New(c Config) *Billing { return &Billing{c} }

//go:embed *.html
var pages embed.FS

var (
	ordersPage = ui.Parse(pages, "orders.html")
	orderPage  = ui.Parse(pages, "order.html")
	tiersPage  = ui.Parse(pages, "tiers.html")
	quotaPage  = ui.Parse(pages, "quota.html")

	settlementsPage = ui.Parse(pages, "settlements.html")
)

// The endpoints' paths.
const (
	pathOrders  = "/api/console/orders"
	pathOrder   = pathOrders + "/{order_id}"
	pathApprove = pathOrder + "/approve"
	pathReject  = pathOrder + "/reject"
	pathTiers   = "/api/console/tiers"
	pathQuota   = "/api/console/quota/{client_id}"

	pathSettlements = "/api/console/settlements"
)

// Part returns the endpoints and pages.
func (s *Billing) Part() ui.Part {
	reader, administrator := []consoleauth.Check{admin.Actor.Reader}, []consoleauth.Check{admin.Actor.Admin}
	type by = map[string]ui.Action
	return ui.Part{
		APIs: []ui.API{
			{Path: pathOrders, Owned: true, Methods: by{"GET": s.listOrders}},
			{Path: pathOrder, Owned: true, Methods: by{"GET": s.showOrder, "DELETE": s.cancelOrder}},
			{Path: pathApprove, Methods: by{"POST": s.approveOrder}, May: reader, Changes: administrator},
			{Path: pathReject, Methods: by{"POST": s.rejectOrder}, May: reader, Changes: administrator},
			{Path: pathTiers, Owned: true, Methods: by{"GET": s.listTiers, "POST": s.setTier}, Changes: administrator},
			{Path: pathQuota, Owned: true, Methods: by{"GET": s.showQuota}},
			{Path: pathSettlements, Owned: true, Methods: by{"GET": s.listSettlements}},
			{Path: pathSettlements + "/csv", Owned: true, Raw: map[string]ui.Raw{"GET": s.settlementsFile}},
		},
		Pages: []ui.Page{
			{Path: "/console/orders", Title: "Orders", Section: "Usage & billing", Owned: true, Get: s.browseOrders,
				Template: ordersPage, Names: named},
			{Path: "/console/orders/{order_id}", Title: "Order", Owned: true, Get: s.showOrder, Template: orderPage,
				Names: named,
				Acts: map[string]ui.Act{
					"approve": {Says: "Approve an order", Do: s.approveOrder, May: administrator,
						Fields: map[string]ui.Kind{"until": ui.Optional}, Done: "The order is approved."},
					"reject": {Says: "Reject an order", Do: s.rejectOrder, May: administrator,
						Fields: map[string]ui.Kind{"reason": ui.Text}, Done: "The order is rejected."},
					"cancel": {Says: "Cancel an order", Do: s.cancelOrder, Done: "The order is canceled."},
				}},
			{Path: "/console/tiers", Title: "Tiers", Section: "Usage & billing", Owned: true, Get: s.listTiers,
				Template: tiersPage,
				Acts: map[string]ui.Act{
					"set": {Says: "Set the tier of an application", Do: s.setTier, May: administrator,
						Fields: map[string]ui.Kind{"client_id": ui.Text, "tier": ui.Text, "until": ui.Optional},
						Done:   "The application has this tier now."},
				}},
			{Path: "/console/quota", Title: "Quota", Section: "Usage & billing", Owned: true, Get: s.browseQuota,
				Template: quotaPage, Names: named},
			{Path: "/console/settlements", Title: "Settlements", Section: "Usage & billing", Owned: true,
				Get: s.listSettlements, Template: settlementsPage},
		},
		Texts: texts,
	}
}

// named returns what a page names.
func named(data any) (apps, users []string) {
	switch v := data.(type) {
	case ordersRecord:
		for _, o := range v.Orders {
			apps = append(apps, o.ClientID)
		}
	case orderRecord:
		apps, users = []string{v.ClientID}, []string{v.Owner, v.By, v.DecidedBy}
	case quotaView:
		for _, a := range v.Apps {
			users = append(users, a.Owner)
		}
	}
	return apps, slices.DeleteFunc(users, func(sub string) bool { return sub == "" })
}

// yuan writes an amount of fen.
func yuan(fen int64) string { return fmt.Sprintf("%d.%02d", fen/100, fen%100) }
