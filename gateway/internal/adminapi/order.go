package adminapi

import (
	"net/http"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
)

// Price is the price of a tier.
type Price struct {
	Amount   int64  `json:"amount"` // in fen
	Currency string `json:"currency"`
	Period   string `json:"period"`
}

// Yearly returns a price for a year, in fen.
func Yearly(fen int64) Price { return Price{fen, billing.Currency, "year"} }

// OrderRecord shows an order as its owner sees it (decision 30).
type OrderRecord struct {
	OrderID     string  `json:"order_id"`
	ClientID    string  `json:"client_id"`
	FromTier    string  `json:"from_tier"`
	Tier        string  `json:"tier"`
	Status      string  `json:"status"` // pending, contact, approved, rejected or canceled
	Price       Price   `json:"price"`
	EffectiveAt *string `json:"effective_at"` // null: not decided
	ExpiresAt   *string `json:"expires_at"`   // null: no end is agreed on
	CreatedAt   string  `json:"created_at"`
	DecidedAt   *string `json:"decided_at"`
	Reason      string  `json:"reason"`
}

// OrderOf makes the OrderRecord of an order.
func OrderOf(o storage.Order) OrderRecord {
	return OrderRecord{
		OrderID: o.ID, ClientID: o.AppID, FromTier: o.From, Tier: o.Tier, Status: o.Status, Price: Yearly(o.AmountFen),
		EffectiveAt: Stamp(o.EffectiveAt), ExpiresAt: Stamp(o.ExpiresAt),
		CreatedAt: o.CreatedAt.UTC().Format(ISO8601), DecidedAt: Stamp(o.DecidedAt), Reason: o.Reason,
	}
}

// OrderFilter reads the filter of a list of orders: of one application, with one status.
func OrderFilter(r *http.Request) (storage.OrderQuery, error) {
	query := r.URL.Query()
	q := storage.OrderQuery{AppID: query.Get("client_id"), Status: query.Get("status")}
	for _, text := range []string{q.AppID, q.Status} {
		if text != "" && !IsID(text) {
			return q, BadQuery.Saying("client_id and status are written as they are in an order")
		}
	}
	return q, nil
}
