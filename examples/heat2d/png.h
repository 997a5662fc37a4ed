/* Writes a picture of 256 colours without any library. */
#ifndef HEAT2D_PNG_H
#define HEAT2D_PNG_H

/* Writes `width` x `height` palette indices, top row first, to `path`.
   `palette` holds 256 red-green-blue triples. Returns 0, or -1 with errno set. */
int png_write(const char* path, int width, int height, const unsigned char* pixels, const unsigned char* palette);

#endif
