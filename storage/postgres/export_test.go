package postgres

import (
	"context"
	"time"
)

// Texts returns the statements of the Store, for those who send them without it.
func (s *Store) Texts() (exchange, judge string) { return s.texts[exchangeToken], s.texts[judgeToken] }

// Given returns the arguments of an exchange.
var ColumnsOf, Stamp = columnsOf, stamp

// The judgements of Check.
var JudgeWay, JudgeClock, JudgeCommit, JudgeStandby = judgeWay, judgeClock, judgeCommit, judgeStandby

// MakePartitions makes the partitions of weeks that have passed.
func (s *Store) MakePartitions(ctx context.Context, weeks ...time.Time) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	for i := range weeks {
		weeks[i] = monday(weeks[i])
	}
	return s.partitions.past(ctx, c, weeks)
}

// RepeatAfter has calls whose answer was lost sent again so soon.
func (s *Store) RepeatAfter(d time.Duration) { s.pause = d }
