/* The order of operations in a mix: a shuffled deck of 1000 cards, which is refilled and shuffled
 * when it is empty. After every deck the numbers of cards are as near to the shares as whole
 * numbers can be. */
#ifndef S3_LOADGEN_WORK_DECK_H
#define S3_LOADGEN_WORK_DECK_H

#include "loadgen/util/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECK_CARDS 1000
#define DECK_KINDS 4

struct deck {
    struct rng rng;
    double frac[DECK_KINDS];  /* shares, sum 1 */
    double carry[DECK_KINDS]; /* cards owed by earlier decks, in (-1, 1) */
    size_t n_left;
    uint8_t cards[DECK_CARDS];
};

/* Makes a deck. The shares are normalised; none is negative, and not all are 0. */
void deck_init(struct deck *d, const double shares[DECK_KINDS], struct rng rng);

/* Returns the kind of the next request, 0..DECK_KINDS-1. A kind with share 0 is never dealt. */
size_t deck_deal(struct deck *d);

/* Records that a card of kind `want` is played in place of the card of kind `have` that was dealt.
 * The next decks compensate for it, so the shares stay exact over time. False: the mix has no cards
 * of kind `want`. */
bool deck_exchange(struct deck *d, size_t have, size_t want);

#endif
