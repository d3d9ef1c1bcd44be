package pattern

import "testing"

func TestExpressionIsCompiledOnceAndWhenItIsUsed(t *testing.T) {
	wrong := Lazy(`(`) // nothing is compiled, so nothing panics yet
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a wrong expression does not panic when it is used")
			}
		}()
		wrong()
	}()
	word := Lazy(`^[a-z]+$`)
	if !word().MatchString("abc") || word().MatchString("a1") {
		t.Error("it matches what it should not, or not what it should")
	}
	if once := word(); word() != once {
		t.Error("it is compiled twice")
	}
}
