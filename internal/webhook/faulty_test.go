package webhook

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/keystile/keystile/storage"
)

var errAway = errors.New("the store is away")

// faulty is a store that can be told to fail, before or after a call was done.
type faulty struct {
	Store
	mu            sync.Mutex
	before, after func(method string) error
	calls         int
}

// check asks a hook, which set may change at any time.
func (f *faulty) check(hook *func(string) error, method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *hook == nil {
		return nil
	}
	return (*hook)(method)
}

func (f *faulty) DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error) {
	f.mu.Lock()
	f.calls++
	f.mu.Unlock()
	if err := f.check(&f.before, "due"); err != nil {
		return nil, err
	}
	list, err := f.Store.DueDeliveries(ctx, at, n)
	return list, errors.Join(err, f.check(&f.after, "due"))
}

func (f *faulty) FirstDelivery(ctx context.Context, member string) (storage.Delivery, error) {
	if err := f.check(&f.before, "first"); err != nil {
		return storage.Delivery{}, err
	}
	d, err := f.Store.FirstDelivery(ctx, member)
	if err == nil {
		err = f.check(&f.after, "first")
	}
	return d, err
}

func (f *faulty) SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error) {
	if err := f.check(&f.before, "save"); err != nil {
		return d, err
	}
	d, err := f.Store.SaveDelivery(ctx, d)
	if err == nil {
		err = f.check(&f.after, "save")
	}
	return d, err
}

func (f *faulty) DeleteDelivery(ctx context.Context, d storage.Delivery) error {
	if err := f.check(&f.before, "delete"); err != nil {
		return err
	}
	err := f.Store.DeleteDelivery(ctx, d)
	if err == nil {
		err = f.check(&f.after, "delete")
	}
	return err
}

// looks counts how often it was asked for what is due.
func (f *faulty) looks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// set changes the hooks while a Sender runs.
func (f *faulty) set(before, after func(string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// hung is a store of which one method answers nothing but the end of the context.
type hung struct {
	Store
	method string
}

func (h hung) wait(ctx context.Context, method string) error {
	if method != h.method {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (h hung) DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error) {
	if err := h.wait(ctx, "due"); err != nil {
		return nil, err
	}
	return h.Store.DueDeliveries(ctx, at, n)
}

func (h hung) SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error) {
	if err := h.wait(ctx, "save"); err != nil {
		return d, err
	}
	return h.Store.SaveDelivery(ctx, d)
}

func (h hung) DeleteDelivery(ctx context.Context, d storage.Delivery) error {
	if err := h.wait(ctx, "delete"); err != nil {
		return err
	}
	return h.Store.DeleteDelivery(ctx, d)
}
