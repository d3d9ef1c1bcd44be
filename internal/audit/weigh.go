package audit

import "context"

const (
	weighAll = 10_000 // Seqs that are read one by one
	samples  = 128
	sample   = 16 // records
)

// weigh returns how many bytes of data the records behind a Seq up to another have. Of a long
// trail it reads samples, spread evenly, because it is asked every minute.
func weigh(ctx context.Context, store Reader, after, until uint64) (bytes int64, err error) {
	if until <= after {
		return 0, nil
	}
	if until-after <= weighAll {
		for r, err := range all(ctx, store, after, until) {
			if err != nil {
				return 0, err
			}
			bytes += int64(len(r.Data))
		}
		return bytes, nil
	}
	step := (until - after) / samples
	perSeq := 0.0
	for i := range uint64(samples) {
		from := after + i*step
		records, err := page(ctx, store, from, sample)
		if err != nil {
			return 0, err
		}
		if len(records) == 0 {
			continue
		}
		read := 0
		for _, r := range records {
			read += len(r.Data)
		}
		perSeq += float64(read) / float64(records[len(records)-1].Seq-from) / samples // Seqs may have gaps
	}
	return int64(perSeq * float64(until-after)), nil
}
