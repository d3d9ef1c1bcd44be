package driver

// Wrapper is implemented by a Backend that wraps another one, so that what the inner one can do beside the methods of
// Backend is found by [As].
type Wrapper interface{ Unwrap() Backend }

// As returns b, or what it wraps, as a T: one of the interfaces of this package that an adapter may leave out, such as
// a Gatherer. It is false where none of them is one.
func As[T any](b Backend) (as T, ok bool) {
	for b != nil {
		if as, ok = b.(T); ok {
			return as, true
		}
		wrapper, wraps := b.(Wrapper)
		if !wraps {
			break
		}
		b = wrapper.Unwrap()
	}
	return as, false
}
