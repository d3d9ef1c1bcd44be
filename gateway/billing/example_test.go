package billing_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// Without a gateway, over a store alone: an order is made, approved and settled.
func Example() {
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	if err != nil {
		log.Fatal(err)
	}
	app, err := store.SaveApp(ctx, storage.App{Name: "Shop", Owner: "u1", Domains: []string{"shop.example.com"}})
	if err != nil {
		log.Fatal(err)
	}
	b, err := billing.New(billing.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	order, _, err := b.Order(ctx, app.ID, storage.TierWhiteLabel, "u1", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(order.Status)
	if order, err = b.Approve(ctx, order.ID, "operator", time.Time{}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(order.Status)
	settled, err := b.Settle(ctx, app, order.EffectiveAt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settled.TotalFen, billing.Currency)
	// Output:
	// pending
	// approved
	// 99900 CNY
}
