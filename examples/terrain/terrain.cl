// The device's part of the terrain example. Four steps, each a kernel: blur the noise along rows, then along columns, add the
// result to the heights; find the lowest and the highest point; paint.

// One work-group blurs local_size(0) pixels of one row. It first brings what they need together into local memory: its own
// pixels and `radius` more on each side. The map is a torus: what leaves on the right comes back on the left.
__kernel void blur_rows(__global const float *in, __global float *out, __constant float *weights, int radius, int width,
                        __local float *tile) {
  const int lane = get_local_id(0);
  const int group = get_local_size(0);
  const int first = get_group_id(0) * group - radius;
  const int row = get_global_id(1) * width;
  for (int i = lane; i < group + 2 * radius; i += group)
    tile[i] = in[row + (first + i + width) % width];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int i = 0; i <= 2 * radius; ++i)
    sum += weights[i] * tile[lane + i];
  if ((int)get_global_id(0) < width)
    out[row + get_global_id(0)] = sum;
}

// The same downwards, for a block of columns: neighbouring work-items read neighbouring pixels. Adds to the heights at once.
__kernel void blur_columns_and_add(__global const float *in, __global float *heights, __constant float *weights, int radius, int width,
                                   int rows, float amplitude, __local float *tile) {
  const int column_lane = get_local_id(0);
  const int row_lane = get_local_id(1);
  const int columns = get_local_size(0);
  const int group_rows = get_local_size(1);
  const int x = get_global_id(0);
  const int first = get_group_id(1) * group_rows - radius;
  for (int i = row_lane; i < group_rows + 2 * radius; i += group_rows)
    tile[i * columns + column_lane] = in[((first + i + rows) % rows) * width + min(x, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int i = 0; i <= 2 * radius; ++i)
    sum += weights[i] * tile[(row_lane + i) * columns + column_lane];
  const int y = get_global_id(1);
  if (x < width && y < rows)
    heights[y * width + x] += amplitude * sum;
}

// The lowest (x) and highest (y) of `count` values: each work-item looks at every local_size-th, then the group halves its
// results until one is left. One work-group of a power of two.
__kernel void find_range(__global const float *values, int count, __global float2 *range, __local float2 *scratch) {
  const int lane = get_local_id(0);
  const int group = get_local_size(0);
  float2 mine = (float2)(INFINITY, -INFINITY);
  for (int i = lane; i < count; i += group)
    mine = (float2)(fmin(mine.x, values[i]), fmax(mine.y, values[i]));
  scratch[lane] = mine;
  for (int step = group / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step)
      scratch[lane] = (float2)(fmin(scratch[lane].x, scratch[lane + step].x), fmax(scratch[lane].y, scratch[lane + step].y));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0)
    *range = scratch[0];
}

#define SEA_LEVEL 0.46f
#define SHADOW_STEPS 60
#define SUN_SLOPE 0.0036f /* how much a ray of light falls from one pixel to the next */

float elevation(__global const float *heights, float2 range, int x, int y, int width, int rows) {
  x = (x + width) % width;
  y = (y + rows) % rows;
  return (heights[y * width + x] - range.x) / (range.y - range.x);
}

// 0: in full light, 1: in full shadow. Walks towards the sun, upper left, and remembers by how much the land rises above the ray.
float shadow(__global const float *heights, float2 range, int x, int y, int width, int rows, float ground) {
  float worst = 0.0f;
  for (int i = 1; i < SHADOW_STEPS; ++i) {
    const float land = fmax(elevation(heights, range, x - i, y - i, width, rows), SEA_LEVEL);
    worst = fmax(worst, land - (ground + SUN_SLOPE * i));
  }
  return clamp(worst * 50.0f, 0.0f, 1.0f);
}

__constant float4 kLand[6] = {(float4)(214, 196, 146, 0),  (float4)(128, 158, 84, 0),  (float4)(62, 112, 58, 0),
                              (float4)(96, 98, 74, 0), (float4)(138, 126, 114, 0), (float4)(246, 248, 252, 0)};

// Sand, grass, forest, heath, rock, snow; `above`: 0 at the sea, 1 at the top.
float4 land_colour(float above) {
  const float at = clamp(above, 0.0f, 0.9999f) * 5.0f;
  const int band = (int)at;
  return mix(kLand[band], kLand[band + 1], at - band);
}

// Paints the rows from `first_row` on, as many as the range has.
__kernel void paint(__global const float *heights, __global const float2 *range_of_heights, __global uchar4 *pixels, int width, int rows) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const float2 range = *range_of_heights;
  const float here = elevation(heights, range, x, y, width, rows);
  const float ground = fmax(here, SEA_LEVEL);
  const float east = fmax(elevation(heights, range, x + 1, y, width, rows), SEA_LEVEL);
  const float west = fmax(elevation(heights, range, x - 1, y, width, rows), SEA_LEVEL);
  const float south = fmax(elevation(heights, range, x, y + 1, width, rows), SEA_LEVEL);
  const float north = fmax(elevation(heights, range, x, y - 1, width, rows), SEA_LEVEL);
  const float3 normal = normalize((float3)((west - east) * 60.0f, (north - south) * 60.0f, 1.0f));
  const float light = fmax(dot(normal, normalize((float3)(-1.0f, -1.0f, 1.3f))), 0.0f);

  const float depth = clamp((SEA_LEVEL - here) * 4.5f, 0.0f, 1.0f);
  const float4 water = mix((float4)(82, 166, 184, 0), (float4)(14, 50, 104, 0), sqrt(depth));
  const float shore = clamp((here - SEA_LEVEL) * 300.0f + 0.5f, 0.0f, 1.0f);
  float4 colour = mix(water, land_colour((here - SEA_LEVEL) / (1.0f - SEA_LEVEL)), shore);
  const float dark = shadow(heights, range, x, y, width, rows, ground);
  colour = clamp(colour * (0.34f + 1.05f * light) * (1.0f - 0.45f * dark), 0.0f, 255.0f);
  pixels[y * width + x] = (uchar4)(convert_uchar3_sat_rte(colour.xyz), 255);
}
