package console_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/groups"
)

// What a page of groups takes does not grow with the groups, nor with the members of one.
func BenchmarkPagesOfGroups(b *testing.B) {
	for _, size := range []struct{ groups, members int }{{100, 1_000}, {10_000, 100_000}} {
		b.Run(fmt.Sprintf("%d-groups-%d-members", size.groups, size.members), func(b *testing.B) {
			store := must(bolt.Open(filepath.Join(b.TempDir(), "data"), bolt.Options{}))(b)
			h := newNode(b, store, storage.NewMasterKey())
			root := h.testUser("root", storage.RoleAdmin)
			h.together(size.groups, func(i int) error {
				_, err := h.store.SaveGroup(b.Context(), groups.Group{Name: fmt.Sprintf("team-%05d", i),
					Label: fmt.Sprintf("Label %05d", i), Managers: []string{root.Sub}})
				return err
			})
			h.together(size.members, func(i int) error {
				_, err := h.store.AddMember(b.Context(), "team-00007", fmt.Sprintf("u%06d", i))
				return err
			})
			for name, path := range map[string]string{"list": "groups", "search": "groups?q=team-0001",
				"group": "groups/team-00007", "members": "groups/team-00007/members"} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						h.want(h.call("GET", "/api/console/"+path, root.cookie, nil), 200, 1, path)
					}
				})
			}
		})
	}
}

// together does something n times, 64 at once.
func (h *fixture) together(n int, do func(i int) error) {
	h.Helper()
	work := make(chan int)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := range work {
				if err := do(i); err != nil {
					h.Error(err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
}
