package registry_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

func TestBodyIsPreviewedRegisteredPausedAndPublished(t *testing.T) {
	h := newFixture(t)
	forms := registry.Forms{Registry: h.registry}
	mina, other := h.user("mina", storage.RoleDeveloper), h.user("other", storage.RoleDeveloper)
	body := []byte(standard("shop", "a", "b"))
	c, tools, _, err := forms.PreviewBody(t.Context(), mina, body)
	if err != nil || c.Member != "shop" || len(tools) != 2 {
		t.Fatalf("the preview is %+v %v %v", c, tools, err)
	}
	if _, err := h.store.Capability(t.Context(), "shop"); err == nil {
		t.Error("a preview was stored")
	}
	if c, _, _, err = forms.RegisterBody(t.Context(), mina, body); err != nil || c.Owner != mina.Sub || !c.Publish {
		t.Fatalf("the registration is %+v %v", c, err)
	}
	for _, on := range []bool{false, true} {
		if _, err := h.registry.SetPublished(t.Context(), other, "shop", on); err == nil {
			t.Error("somebody else's capability was changed")
		}
		if c, err := h.registry.SetPublished(t.Context(), mina, "shop", on); err != nil || c.Publish != on {
			t.Errorf("publish %t is %+v %v", on, c, err)
		}
		if c, tools, err := h.store.Tools(t.Context(), "shop"); err != nil || c.Publish != on || len(tools) != 2 {
			t.Errorf("publish %t is stored as %+v with %d tools, %v", on, c, len(tools), err)
		}
	}
	if _, err := h.registry.SetPublished(t.Context(), mina, "none", true); err == nil {
		t.Error("a capability that there is not was published")
	}
	for _, wrong := range []string{"", "[]", "null", `{"member":7}`, `{"member":"x","nonsense":1}`, strings.Repeat("[", 1000)} {
		if _, _, _, err := forms.RegisterBody(t.Context(), mina, []byte(wrong)); err == nil {
			t.Errorf("%.40q was registered", wrong)
		}
	}
}
