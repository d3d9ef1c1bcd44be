package registry_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// After any acts in any order the store holds what a map would.
func TestStoreIsWhatASimpleModelSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		userTable := map[string]storage.User{"mina": h.user("mina", storage.RoleDeveloper),
			"ada": h.user("ada", storage.RoleDeveloper), "root": h.user("root", storage.RoleAdmin)}
		cookies := map[string]string{}
		for name, u := range userTable {
			cookies[name] = h.visitor(u)
		}
		model, kept := map[string]entry{}, map[string]string{}
		draw := rand.New(rand.NewPCG(1, 2))
		for step := range 500 {
			who := []string{"mina", "ada", "root"}[draw.IntN(3)]
			member := []string{"a", "b", "c"}[draw.IntN(3)]
			there, exists := model[member]
			mine := who == "root" || there.owner == who
			free := !exists && (who == "root" || kept[member] == "" || kept[member] == who)
			want, tool := 200, fmt.Sprint("t", step)
			var a response
			switch draw.IntN(4) {
			case 0:
				if a = h.request("DELETE", all+"/"+member, cookies[who], nil); !exists {
					want = 404
				} else if !mine {
					want = 403
				} else {
					delete(model, member)
					kept[member] = there.owner
				}
			case 1:
				a, want = h.register(cookies[who], `{"member":"`+member+`","upstream_url":"https://x.example.com","openapi":{"openapi":"3.0.3"}}`), 400
				if exists && !mine || !exists && !free {
					want = 403
				}
			default:
				if a = h.register(cookies[who], standard(member, tool)); exists && !mine || !exists && !free {
					want = 403
				} else {
					owner := who
					if exists {
						owner = there.owner
					}
					model[member] = entry{owner, tool}
				}
			}
			if a.status != want {
				t.Fatalf("step %d: %s, %s = %d %s, want %d", step, who, member, a.status, a.text, want)
			}
			h.holds(model, userTable)
		}
	})
}

type entry struct{ owner, tool string }

// holds fails unless the registrar shows an admin exactly what the model says.
func (h *fixture) holds(model map[string]entry, userTable map[string]storage.User) {
	h.Helper()
	var names []string
	for _, c := range must(h.registry.List(h.Context(), userTable["root"]))(h) {
		names = append(names, c.Member)
		_, tools, err := h.store.Tools(h.Context(), c.Member)
		want := model[c.Member]
		if err != nil || len(tools) != 1 || tools[0].Name != want.tool || c.Owner != userTable[want.owner].Sub {
			h.Fatalf("%s is %s's with %v, %v, want %+v", c.Member, c.Owner, tools, err, want)
		}
	}
	if want := slices.Sorted(maps.Keys(model)); !slices.Equal(names, want) {
		h.Fatalf("listed are %q, want %q", names, want)
	}
}

func TestListGoesOnToItsLastPage(t *testing.T) {
	crowd := &crowded{owner: "u1", n: 2*driver.Page + 1}
	userTable := hosts{"u1": {Sub: "u1", Role: storage.RoleDeveloper}}
	r := must(registry.New(t.Context(), registry.Config{BaseURL: base, Store: crowd, Visitors: userTable, Users: userTable,
		NoDelivery: true}))(t)
	all := must(r.List(t.Context(), userTable["u1"]))(t)
	if len(all) != crowd.n || all[0].Member != "m0" || all[crowd.n-1].Member != fmt.Sprint("m", crowd.n-1) {
		t.Errorf("%d capabilities are listed, want all %d", len(all), crowd.n)
	}
}

// crowded is a store in which somebody has n capabilities, m0 and so on.
type crowded struct {
	registry.Store
	owner string
	n     int
}

func (c *crowded) Capabilities(_ context.Context, owner, from string,
	n int) (page []storage.Capability, next string, err error) {
	if owner != c.owner {
		return nil, "", nil
	}
	at, _ := strconv.Atoi(from)
	for i := at; i < min(at+n, c.n); i++ {
		page = append(page, storage.Capability{Member: fmt.Sprint("m", i), Owner: c.owner})
	}
	if at+n < c.n {
		next = strconv.Itoa(at + n)
	}
	return page, next, nil
}

func TestAdministratorMayGiveACapabilityToSomebody(t *testing.T) {
	h := newFixture(t)
	mina, ada, root := h.user("mina", storage.RoleDeveloper), h.user("ada", storage.RoleDeveloper),
		h.user("root", storage.RoleAdmin)
	q := registry.Request{Member: "shop", UpstreamURL: "https://api.example.com", OpenAPI: []byte(document("a")),
		Owner: ada.Sub}
	for _, c := range []struct {
		actor       storage.User
		owner, want string
	}{{mina, ada.Sub, mina.Sub}, {root, "", mina.Sub}, {root, ada.Sub, ada.Sub}, {root, "", ada.Sub}} {
		q.Owner = c.owner
		if r, err := h.registry.Register(t.Context(), c.actor, q); err != nil || r.Owner != c.want {
			t.Errorf("registered by %s for %q, it is %s's, %v, want %s", c.actor.Username, c.owner, r.Owner, err, c.want)
		}
	}
}

func TestOwnerWithoutANameOwnsNothing(t *testing.T) {
	h := newFixture(t)
	root := storage.User{Role: storage.RoleAdmin} // of a fixture without people
	must(h.registry.Register(t.Context(), root, registry.Request{Member: "shop",
		UpstreamURL: "https://api.example.com"}))(t)
	if c, err := h.registry.Show(t.Context(), storage.User{}, "shop"); err == nil {
		t.Errorf("Show() to nobody = %v", c.Member)
	}
	if all, err := h.registry.List(t.Context(), storage.User{}); err != nil || len(all) != 0 {
		t.Errorf("List() for nobody = %v, %v, want nothing", all, err)
	}
	if err := h.registry.Remove(t.Context(), storage.User{}, "shop"); err == nil {
		t.Error("nobody removed it")
	}
}

func TestToolsOfSomebodyElsesStayPacked(t *testing.T) {
	capabilities := &exchanged{}
	h := newFixture(t, func(c *registry.Config) {
		c.Users, capabilities.Store = c.Store.(*storage.Store), c.Store
		c.Store = capabilities
	})
	mina := h.developer("mina")
	h.want(h.register(mina, standard("shop", "t")), 200, 1, "the first")
	capabilities.gone = true
	h.want(h.request("GET", all+"/shop", mina, nil), 403, 403, "what has changed hands in between")
	h.want(h.request("PATCH", all+"/shop", mina, strings.NewReader(`{"label":"x"}`)), 403, 403, "an update of it")
	if capabilities.read > 0 {
		t.Errorf("tools were read %d times, want those of others left packed", capabilities.read)
	}
}

// exchanged is a store in which each capability has another owner once it is gone.
type exchanged struct {
	registry.Store
	gone bool
	read int
}

func (e *exchanged) StoredPlace(ctx context.Context, member string) (storage.Place, error) {
	p, err := e.Store.StoredPlace(ctx, member)
	if e.gone {
		p.Owner = "somebody"
	}
	return p, err
}

func (e *exchanged) ToolsAt(ctx context.Context, p storage.Place) ([]toolplan.Tool, error) {
	if e.gone {
		e.read++
	}
	return e.Store.ToolsAt(ctx, p)
}
