package admin

// Untold says that an act was done, and that the running bus does not know it yet.
type Untold struct{ Cause error }

func (u *Untold) Error() string {
	return "it is done, but the bus does not know it yet: " + u.Cause.Error()
}

// Unwrap returns the cause.
func (u *Untold) Unwrap() error { return u.Cause }
