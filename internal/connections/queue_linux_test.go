package connections

import (
	"net/http"
	"testing"
	"time"
)

func TestKernelKeepsLittleOfAnAnswerThatNobodyReads(t *testing.T) {
	taken := make(chan int, 1)
	_, address := local(t, Config{Grace: 200 * time.Millisecond}, func(w http.ResponseWriter, _ *http.Request) {
		n, err := w.Write(sixteenMiB)
		if err == nil {
			t.Error("an answer of 16 MiB was taken whole")
		}
		taken <- n
	})
	nc := from(t, "127.0.0.1", address)
	nc.SetReadBuffer(4 << 10)
	if _, err := nc.Write([]byte(get)); err != nil {
		t.Fatal(err)
	}
	if n := <-taken; n > 1<<20 {
		t.Errorf("the kernel has taken %d bytes for who reads none, want at most a MiB", n)
	}
}
