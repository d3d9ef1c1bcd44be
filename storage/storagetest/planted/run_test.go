package planted

import (
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func TestTheContractSeesPlantedBugs(t *testing.T) {
	Run(t, func(*testing.T) driver.Backend { return memory.New() })
}
