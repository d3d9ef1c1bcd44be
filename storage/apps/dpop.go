package apps

import "fmt"

// Whether the tokens of an application are bound to a key of its own (RFC 9449): App.DPoP.
const (
	DPoPOff      = "off"      // never: its proofs are ignored
	DPoPAllowed  = "allowed"  // where it sends a proof
	DPoPRequired = "required" // always: it gets no token without a proof
)

// KeyBinding returns DPoPOff, DPoPAllowed or DPoPRequired. An application that nobody registered may always have its
// tokens bound: nobody could allow it to.
func (a App) KeyBinding() string {
	switch {
	case a.DPoP == DPoPRequired, a.DPoP == DPoPAllowed:
		return a.DPoP
	case a.Client != nil:
		return DPoPAllowed
	}
	return DPoPOff
}

func checkDPoP(mode string) error {
	switch mode {
	case "", DPoPOff, DPoPAllowed, DPoPRequired:
		return nil
	}
	return fmt.Errorf("dpop: %q is none of %s, %s, %s", mode, DPoPOff, DPoPAllowed, DPoPRequired)
}
