// goroutines.go - a Go program that does what Go programs do: goroutines that compute, allocate for the
// collector, hand over values by a channel, look at the clock and sort.
//
//	goroutines ROUNDS
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

type node struct {
	left, right *node
	payload     [4]int
}

//go:noinline
func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

// Small enough to be inlined into mixed.
func step(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

//go:noinline
func mixed(n int) uint64 {
	x := uint64(88172645463325252)
	for i := 0; i < n; i++ {
		x = step(x)
	}
	return x
}

//go:noinline
func deep(n int) uint64 {
	if n == 0 {
		return mixed(2000)
	}
	return deep(n-1) + 1
}

func sorted(n int) int {
	words := make([]string, n)
	for i := range words {
		words[i] = strconv.Itoa(int(step(uint64(i + 1))))
	}
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	return len(words[0])
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	start := time.Now()
	values := make(chan uint64)
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := 0; round < rounds; round++ {
				values <- deep(40) + uint64(sorted(300))
				tree(12)
				mixed(100000)
			}
		}()
	}
	go func() {
		wg.Wait()
		close(values)
	}()
	var sum uint64
	for v := range values {
		sum += v
	}
	fmt.Println(sum != 0, time.Since(start) > 0)
}
