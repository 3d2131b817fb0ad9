#pragma once
// <dl/dl.h>: write `void dl_main(dl::Program &p)`, see examples/.
#include "adam_family.h"
#include "averaging.h"
#include "clip.h"
#include "data.h"
#include "embedding_layers.h"
#include "image_layers.h"
#include "optim.h"
#include "parallel.h"
#include "program.h"
#include "recurrent_layers.h"
#include "schedules.h"
#include "transformer_decoder.h"
