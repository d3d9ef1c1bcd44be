package resp

import (
	"errors"
	"fmt"
)

// Kind says what a Value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Text
	Number
	List
	Failure
)

// Value is an answer, or a part of one.
type Value struct {
	Kind Kind
	Text string // of Text and Failure
	Int  int64  // of Number
	List []Value
}

// Error says why a server gives no result, such as "READONLY You can't write ...".
type Error string

func (e Error) Error() string { return string(e) }

// ErrOther says that a server has answered something else than its command has as a result.
var ErrOther = errors.New("resp: an answer of another kind than the command has")

// Err returns what a Failure says.
func (v Value) Err() error {
	if v.Kind == Failure {
		return Error(v.Text)
	}
	return nil
}

// String returns a Text.
func (v Value) String() (string, error) {
	if v.Kind != Text {
		return "", v.other()
	}
	return v.Text, nil
}

// Int64 returns a Number.
func (v Value) Int64() (int64, error) {
	if v.Kind != Number {
		return 0, v.other()
	}
	return v.Int, nil
}

// Ints returns a List of numbers.
func (v Value) Ints() ([]int64, error) { return list(v, Value.Int64) }

// Strings returns a List of texts.
func (v Value) Strings() ([]string, error) { return list(v, Value.String) }

func list[T any](v Value, of func(Value) (T, error)) ([]T, error) {
	if v.Kind != List {
		return nil, v.other()
	}
	all := make([]T, len(v.List))
	for i, item := range v.List {
		one, err := of(item)
		if err != nil {
			return nil, err
		}
		all[i] = one
	}
	return all, nil
}

func (v Value) other() error {
	if err := v.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w (kind %d)", ErrOther, v.Kind)
}
