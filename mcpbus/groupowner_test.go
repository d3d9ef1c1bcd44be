package mcpbus_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

// Where owners alone may use what has no list, those of a group's capability are the managers that it has, a second
// later at the latest.
func TestManagersUseTheToolsOfTheirGroupWhileTheyManageIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := payroll(t, func(c *mcpbus.Config) { c.DefaultAccess = storage.AccessOwner })
		ada := must(h.store.CreateUser(t.Context(), storage.User{Username: "ada"}))(t)
		h.user("ada", ada.Sub, "tools")
		must(h.store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
		c, tools, err := h.store.Tools(t.Context(), "payroll")
		if err != nil {
			t.Fatal(err)
		}
		c.Owner = "group:ops"
		must(h.store.SaveCapability(t.Context(), c, tools))(t)
		h.reload()
		h.wantFound("no manager", "ada")
		manage := func(what string, managers []string, want ...string) {
			t.Helper()
			ops := must(h.store.Group(t.Context(), "ops"))(t)
			ops.Managers = managers
			must(h.store.SaveGroup(t.Context(), ops))(t)
			time.Sleep(time.Second)
			h.wantFound(what, "ada", want...)
		}
		manage("a manager", []string{ada.Sub}, "payroll__show", "payroll__wipe")
		manage("a manager no more", nil)
		must(h.store.AddMember(t.Context(), "ops", ada.Sub))(t)
		manage("a member", nil)
	})
}
