/* family.c - exports the one symbol by which a family is known: IDENTITY_SYMBOL. */
void IDENTITY_SYMBOL(void);

void IDENTITY_SYMBOL(void) {}
